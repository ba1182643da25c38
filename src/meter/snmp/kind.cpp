#include "meter/snmp/kind.h"

#include "base/text.h"
#include "meter/keys.h"
#include "meter/snmp/snmp_meter.h"

namespace rubato::meter::snmp {
namespace {

Result<std::unique_ptr<Meter>> open(std::string_view argument, const Surroundings& around) {
  auto target = parse_target(argument, around);
  if (!target) return fail(target.error());
  return SnmpMeter::open(cat("snmp:", argument), std::move(*target), around.clock);
}

std::vector<FoundMeter> find(const Surroundings& around) {
  std::vector<FoundMeter> found;
  for (const MeterTable* table : tables_of("snmp", around)) {
    const auto target = parse_target(table->name, around);
    FoundMeter meter{cat("snmp:", table->name), "SNMP agent", Capability::yes()};
    if (target)
      meter.what = cat(target->channels.size() == 1
                           ? target->channels[0].channel.place
                           : cat(target->channels.size(), " outlets at ", target->agent.text()));
    else
      meter.usable = Capability::no(target.error().what, target.error().hint);
    found.push_back(std::move(meter));
  }
  return found;
}

}  // namespace

const MeterKind& kind() {
  static const MeterKind own{"snmp", "NAME | PRESET@HOST[:PORT][/OUTLET]",
                             "power strips and other devices with an SNMP agent", open, find};
  return own;
}

}  // namespace rubato::meter::snmp
