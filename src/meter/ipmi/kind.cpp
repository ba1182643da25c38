#include "meter/ipmi/kind.h"

#include <unistd.h>

#include "base/text.h"
#include "meter/ipmi/ipmi_meter.h"
#include "meter/keys.h"

namespace rubato::meter::ipmi {
namespace {

Result<std::unique_ptr<Meter>> open(std::string_view argument, const Surroundings& around) {
  auto target = parse_target(argument, around);
  if (!target) return fail(target.error());
  return IpmiMeter::open(argument.empty() ? std::string("ipmi") : cat("ipmi:", argument), *target,
                         around.clock);
}

std::vector<FoundMeter> find(const Surroundings& around) {
  std::vector<FoundMeter> found;
  if (around.root.exists(kLocalDevice)) {
    FoundMeter local{"ipmi", "power of this machine as its own management controller measures it",
                     Capability::yes()};
    const std::string device = around.root.path(kLocalDevice).string();
    if (::access(device.c_str(), R_OK | W_OK) != 0)
      local.usable = Capability::forbidden(cat("no right to open ", device),
                                           cat("sudo chmod g+rw ", device, ", or run as root"));
    found.push_back(std::move(local));
  }
  for (const MeterTable* table : tables_of("ipmi", around)) {
    const auto target = parse_target(table->name, around);
    FoundMeter meter{cat("ipmi:", table->name), "management controller", Capability::yes()};
    if (target)
      meter.what = target->place;
    else
      meter.usable = Capability::no(target.error().what, target.error().hint);
    found.push_back(std::move(meter));
  }
  return found;
}

}  // namespace

const MeterKind& kind() {
  static const MeterKind own{"ipmi", "[NAME]", "a machine's management controller, by DCMI", open, find};
  return own;
}

}  // namespace rubato::meter::ipmi
