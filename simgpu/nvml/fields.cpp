// nvmlDeviceGetFieldValues: one call, many figures, each with its own scope and its own answer.
#include <optional>

#include "simgpu/nvml/driver.h"
#include "simgpu/nvml/entry.h"
#include "simgpu/nvml/units.h"
#include "simgpu/nvml/wall_time.h"

namespace rubato::simgpu {
namespace {

using sim::CallId;
using sim::Readout;

/// What a field tells, in NVML's unit; nothing where this GPU has no such figure.
struct Figure {
  abi::ValueType type = abi::ValueType::unsigned_int;
  unsigned long long value = 0;
};
using Answer = std::optional<Figure>;

Answer power(std::optional<Watts> w) {
  if (!w) return std::nullopt;
  return Figure{abi::ValueType::unsigned_int, milliwatts(*w)};
}
Answer energy(std::optional<Joules> j) {
  if (!j) return std::nullopt;
  return Figure{abi::ValueType::unsigned_long_long, millijoules(*j)};
}
Answer duration(Seconds s) {
  return Figure{abi::ValueType::unsigned_long_long, nanoseconds(s)};
}

struct Field {
  unsigned id = 0;
  Driver since;
  CallId call = CallId::open;
  Answer (*tell)(const Readout&, unsigned scope) = nullptr;
};

/// Of the whole GPU alone.
template <auto Member>
Answer limit(const Readout& r, unsigned scope) {
  return scope == abi::kScopeGpu ? power(r.limits.*Member) : std::nullopt;
}
/// These know no scope.
template <auto Member>
Answer held_back(const Readout& r, unsigned) {
  return duration(r.*Member);
}

Answer scoped_power(const Readout& r, unsigned scope, Watts gpu) {
  switch (scope) {
    case abi::kScopeGpu:
      return power(gpu);
    case abi::kScopeModule:
      return power(r.module_power);
    case abi::kScopeMemory:
      return power(r.memory_power);
    default:
      return std::nullopt;
  }
}
Answer instant_power(const Readout& r, unsigned scope) {
  return scoped_power(r, scope, r.power_instant);
}
Answer scoped_energy(const Readout& r, unsigned scope) {
  if (scope == abi::kScopeGpu) return energy(r.energy_counter);
  return scope == abi::kScopeModule ? energy(r.module_energy_counter) : std::nullopt;
}
Answer total_energy(const Readout& r, unsigned) {
  return energy(r.energy_counter);
}

Answer average_power(const Readout& r, unsigned scope) {
  return scoped_power(r, scope, r.power_average);
}

constexpr Driver kAlways{0, 0};
constexpr Driver kPowerFields{535, 0};  // nvml.h of CUDA 12.2; not yet in that of 12.1
// 269 to 271 meant other things before (nvml.h of CUDA 12.9 and 13.0 against 13.0 update 2).
constexpr Driver kThermalTimes{580, 82};

constexpr Field kFields[] = {
    {abi::kFieldTimePowerCap, kAlways, CallId::read_limiter, held_back<&Readout::power_violation>},
    {abi::kFieldTotalEnergy, kAlways, CallId::read_energy_counter, total_energy},
    {abi::kFieldPowerAverage, kPowerFields, CallId::read_power, average_power},
    {abi::kFieldPowerInstant, kPowerFields, CallId::read_power, instant_power},
    {abi::kFieldPowerMinLimit, kPowerFields, CallId::read_power_limits, limit<&PowerLimits::min>},
    {abi::kFieldPowerMaxLimit, kPowerFields, CallId::read_power_limits, limit<&PowerLimits::max>},
    {abi::kFieldPowerDefaultLimit, kPowerFields, CallId::read_power_limits,
     limit<&PowerLimits::default_limit>},
    {abi::kFieldPowerCurrentLimit, kPowerFields, CallId::read_power_limits, limit<&PowerLimits::enforced>},
    {abi::kFieldEnergy, kPowerFields, CallId::read_energy_counter, scoped_energy},
    {abi::kFieldPowerRequestedLimit, kPowerFields, CallId::read_power_limits, limit<&PowerLimits::requested>},
    {abi::kFieldTimeSwThermal, kThermalTimes, CallId::read_limiter, held_back<&Readout::thermal_violation>},
    {abi::kFieldTimeHwThermal, kThermalTimes, CallId::read_limiter,
     held_back<&Readout::hw_thermal_violation>},
    {abi::kFieldTimePowerBrake, kThermalTimes, CallId::read_limiter,
     held_back<&Readout::power_brake_violation>},
};

/// The driver's own average over a second: "Ampere (except GA100) or newer" (NVML API reference, field 185).
bool knows(const sim::Profile& profile, unsigned field) {
  const bool ga100 = profile.compute_major == 8 && profile.compute_minor == 0;
  return field != abi::kFieldPowerAverage || (profile.compute_major >= 8 && !ga100);
}

abi::Return fill(const GpuView& view, abi::FieldValue& value) {
  for (const Field& field : kFields) {
    if (field.id != value.field) continue;
    if (driver_of(view.world) < field.since || !knows(view.profile(), field.id)) return abi::kNotSupported;
    const auto readout = view.read(field.call);
    if (!readout) return to_return(readout.error());
    const Answer answer = field.tell(*readout, value.scope);
    if (!answer) return abi::kNotSupported;
    value.type = answer->type;
    if (answer->type == abi::ValueType::unsigned_int)
      value.value.unsigned_int = static_cast<unsigned>(answer->value);
    else
      value.value.unsigned_long_long = answer->value;
    return abi::kSuccess;
  }
  return abi::kNotSupported;
}

}  // namespace

RUBATO_EXPORT abi::Return nvmlDeviceGetFieldValues(abi::Device device, int count, abi::FieldValue* values) {
  return on_gpu(__func__, device, {values}, [&](const GpuView& view) {
    if (count < 1) return abi::kInvalidArgument;
    for (int i = 0; i < count; ++i) {
      values[i].value.unsigned_long_long = 0;
      values[i].latency_us = 0;
      values[i].result = fill(view, values[i]);
      values[i].timestamp_us = static_cast<long long>(microseconds_since_1970());
    }
    return abi::kSuccess;
  });
}

}  // namespace rubato::simgpu
