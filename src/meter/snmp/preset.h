// What to ask a power distribution unit for: objects of its maker's MIB, and how their numbers become watts
// and joules.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/meter_reading.h"
#include "meter/snmp/oid.h"

namespace rubato::meter::snmp {

/// One number of the agent.
struct Quantity {
  Oid value;
  double factor = 1;  // of one count, in W or J, before decimal digits
  // Where the agent tells them; asked in the same request, so that a change is seen with the value it
  // concerns.
  std::optional<Oid> decimal_digits;
  std::optional<Oid> unit;
  std::int64_t expected_unit = 0;  // as the MIB enumerates units
  std::string_view unit_name;
};

struct ChannelPlan {
  MeterChannel channel;
  std::optional<Quantity> power;
  std::optional<Quantity> energy;
};

struct Preset {
  std::string_view name;
  std::string_view device;  // in words
  /// The whole unit where `outlet` is absent. `unit` counts daisy-chained units from 1.
  ChannelPlan (*plan)(unsigned unit, std::optional<unsigned> outlet);
  /// A register with steps too coarse for a run of minutes is read only on request.
  bool energy_unasked;
};

[[nodiscard]] const std::array<Preset, 2>& presets();
[[nodiscard]] const Preset* find_preset(std::string_view name);

}  // namespace rubato::meter::snmp
