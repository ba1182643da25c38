#include "device/nvml/gpu.h"

#include <array>

#include "base/text.h"
#include "device/nvml/errors.h"
#include "device/nvml/units.h"

namespace rubato::device::nvml {
namespace {

std::vector<Megahertz> to_megahertz(const std::vector<unsigned>& values) {
  std::vector<Megahertz> clocks;
  clocks.reserve(values.size());
  for (const unsigned mhz : values) clocks.emplace_back(mhz);
  return clocks;
}

TimePoint middle(TimePoint begin, TimePoint end) {
  return TimePoint{begin.ns + (end.ns - begin.ns) / 2};
}

LimiterReasons limiter_reasons(unsigned long long bits) {
  LimiterReasons reasons;
  reasons.idle = (bits & abi::kReasonIdle) != 0;
  reasons.power_cap = (bits & abi::kReasonSwPowerCap) != 0;
  reasons.thermal = (bits & (abi::kReasonSwThermal | abi::kReasonHwThermal)) != 0;
  reasons.hardware = (bits & (abi::kReasonHwSlowdown | abi::kReasonHwPowerBrake)) != 0;
  reasons.user_clocks = (bits & abi::kReasonUserClocks) != 0;
  constexpr unsigned long long kNamed = abi::kReasonIdle | abi::kReasonSwPowerCap | abi::kReasonSwThermal |
                                        abi::kReasonHwThermal | abi::kReasonHwSlowdown |
                                        abi::kReasonHwPowerBrake | abi::kReasonUserClocks;
  reasons.other = (bits & ~kNamed) != 0;
  return reasons;
}

}  // namespace

NvmlGpu::NvmlGpu(Handle handle, DeviceCalls calls, Probed probed, SensorFacts sensor)
    : handle_(std::move(handle)),
      calls_(std::move(calls)),
      probed_(std::move(probed)),
      sensor_(std::move(sensor)) {}

Error NvmlGpu::failure(abi::Return code, std::string_view doing) const {
  return from_return(code, cat(describe(handle_.identity), ": cannot ", doing));
}

bool NvmlGpu::no_answer(abi::Return code) {
  return code == abi::kGpuIsLost || code == abi::kResetRequired || code == abi::kTimeout ||
         code == abi::kUninitialized || code == abi::kDriverNotLoaded;
}

abi::Return NvmlGpu::read_fields(FastReading& reading) {
  std::array<abi::FieldValue, 2> fields{};
  int count = 0;
  if (probed_.power == PowerPath::instant_field)
    fields[static_cast<std::size_t>(count++)].field = abi::kFieldPowerInstant;
  if (probed_.energy == EnergyPath::field)
    fields[static_cast<std::size_t>(count++)].field = abi::kFieldTotalEnergy;
  if (count == 0) return abi::kSuccess;
  const abi::Return code = calls_.call(calls_.nvml().fields, count, fields.data());
  if (code != abi::kSuccess) return code;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const abi::FieldValue& field = fields[i];
    if (no_answer(field.result)) return field.result;
    if (field.result != abi::kSuccess) continue;
    if (field.field == abi::kFieldPowerInstant)
      reading.power = from_milliwatts(value_of(field));
    else
      reading.energy_counter = from_millijoules(value_of(field));
  }
  return abi::kSuccess;
}

Result<FastReading> NvmlGpu::read_fast() {
  FastReading reading;
  const TimePoint begin = handle_.clock->now();
  abi::Return code = read_fields(reading);
  if (code != abi::kSuccess) return fail(failure(code, "read power and energy"));
  if (probed_.power == PowerPath::power_usage) {
    const auto power = calls_.number(calls_.nvml().power);
    if (no_answer(power.code)) return fail(failure(power.code, "read power"));
    if (power.ok()) reading.power = from_milliwatts(power.value);
  }
  if (probed_.energy == EnergyPath::total_energy) {
    const auto energy = calls_.number(calls_.nvml().energy);
    if (no_answer(energy.code)) return fail(failure(energy.code, "read the energy counter"));
    if (energy.ok()) reading.energy_counter = from_millijoules(static_cast<double>(energy.value));
  }
  reading.at = middle(begin, handle_.clock->now());
  return reading;
}

Result<SlowReading> NvmlGpu::read_slow() {
  const Functions& nvml = calls_.nvml();
  SlowReading reading;
  abi::Return worst = abi::kSuccess;
  const auto note = [&](const auto& answer) {
    if (no_answer(answer.code)) worst = answer.code;
    return answer.ok();
  };
  const TimePoint begin = handle_.clock->now();
  if (const auto sm = calls_.number(nvml.clock, abi::kClockSm); note(sm))
    reading.sm_clock = Megahertz(sm.value);
  if (const auto memory = calls_.number(nvml.clock, abi::kClockMemory); note(memory))
    reading.memory_clock = Megahertz(memory.value);
  Answer<abi::Utilization> busy;
  busy.code = calls_.call(nvml.utilization, &busy.value);
  if (note(busy)) {
    reading.sm_utilisation = busy.value.gpu / 100.0;
    reading.memory_utilisation = busy.value.memory / 100.0;
  }
  if (const auto heat = calls_.number(nvml.temperature, abi::kTemperatureGpu); note(heat))
    reading.temperature = Celsius(heat.value);
  if (const auto bits = calls_.number(nvml.limiter); note(bits))
    reading.limiter = limiter_reasons(bits.value);
  if (const auto limit = calls_.number(nvml.requested_limit); note(limit))
    reading.requested_limit = from_milliwatts(limit.value);
  if (const auto limit = calls_.number(nvml.enforced_limit); note(limit))
    reading.enforced_limit = from_milliwatts(limit.value);
  if (worst != abi::kSuccess) return fail(failure(worst, "read clocks, utilisation and limits"));
  reading.at = middle(begin, handle_.clock->now());
  return reading;
}

Result<PowerLimits> NvmlGpu::power_limits() {
  const Functions& nvml = calls_.nvml();
  unsigned lowest = 0;
  unsigned highest = 0;
  if (const abi::Return code = calls_.call(nvml.limit_range, &lowest, &highest); code != abi::kSuccess)
    return fail(failure(code, "read the power limit range"));
  // What was asked for, never what is enforced: this is the value that restoring puts back.
  Answer<double> requested;
  const auto management = calls_.number(nvml.requested_limit);
  requested = {management.code, static_cast<double>(management.value)};
  if (means_unsupported(requested.code)) requested = calls_.field(abi::kFieldPowerRequestedLimit);
  if (!requested.ok()) return fail(failure(requested.code, "read the requested power limit"));
  const auto by_default = calls_.number(nvml.default_limit);
  if (!by_default.ok()) return fail(failure(by_default.code, "read the default power limit"));
  const auto enforced = calls_.number(nvml.enforced_limit);
  if (!enforced.ok()) return fail(failure(enforced.code, "read the enforced power limit"));
  return PowerLimits{.min = from_milliwatts(lowest),
                     .max = from_milliwatts(highest),
                     .default_limit = from_milliwatts(by_default.value),
                     .requested = from_milliwatts(requested.value),
                     .enforced = from_milliwatts(enforced.value)};
}

Result<ClockTable> NvmlGpu::supported_clocks() {
  const auto memory = calls_.memory_clocks();
  if (!memory.ok()) return fail(failure(memory.code, "list the memory clocks"));
  const auto sm = calls_.graphics_clocks();
  if (!sm.ok()) return fail(failure(sm.code, "list the SM clocks"));
  return ClockTable{.sm = to_megahertz(sm.value), .memory = to_megahertz(memory.value)};
}

Result<std::vector<ComputeProcess>> NvmlGpu::compute_processes() {
  std::vector<ComputeProcess> processes;
  const auto take = [&](auto list) {
    for (const auto& process : list.value) {
      auto& added = processes.emplace_back(ComputeProcess{.pid = process.pid});
      if (process.used_memory != abi::kValueNotAvailable) added.memory_bytes = process.used_memory;
    }
    return list.code;
  };
  abi::Return code = abi::kFunctionNotFound;
  if (calls_.nvml().processes.exists()) code = take(calls_.list<abi::Process>(calls_.nvml().processes));
  // Drivers before 470 know the short rows only.
  else if (calls_.nvml().processes_v1.exists())
    code = take(calls_.list<abi::ProcessV1>(calls_.nvml().processes_v1));
  if (code != abi::kSuccess) return fail(failure(code, "list the compute processes"));
  return processes;
}

}  // namespace rubato::device::nvml
