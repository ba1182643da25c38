#include "meter/mqtt/kind.h"

#include "base/text.h"
#include "meter/keys.h"
#include "meter/mqtt/mqtt_meter.h"

namespace rubato::meter::mqtt {
namespace {

Result<std::unique_ptr<Meter>> open(std::string_view argument, const Surroundings& around) {
  auto plan = parse_plan(argument, around);
  if (!plan) return fail(plan.error());
  return MqttMeter::open(cat("mqtt:", argument), std::move(*plan), around.clock);
}

std::vector<FoundMeter> find(const Surroundings& around) {
  std::vector<FoundMeter> found;
  for (const MeterTable* table : tables_of("mqtt", around)) {
    const auto plan = parse_plan(table->name, around);
    FoundMeter meter{cat("mqtt:", table->name), "MQTT device", Capability::yes()};
    if (plan)
      meter.what = cat(plan->channels.front().place, " by way of ", plan->broker.text());
    else
      meter.usable = Capability::no(plan.error().what, plan.error().hint);
    found.push_back(std::move(meter));
  }
  return found;
}

}  // namespace

const MeterKind& kind() {
  static const MeterKind own{"mqtt", "NAME | PRESET@HOST[:PORT]/DEVICE",
                             "smart plugs and other devices that publish over MQTT", open, find};
  return own;
}

}  // namespace rubato::meter::mqtt
