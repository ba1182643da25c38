// The two ticks of one GPU: fast (power and energy) and slow (everything that changes at about 1 Hz).
#include "base/text.h"
#include "device/nvml/errors.h"
#include "device/nvml/gpu.h"
#include "device/nvml/units.h"

namespace rubato::device::nvml {
namespace {

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
  reasons.other = (bits & ~kNamed) != 0;  // sync boost, display, and what newer drivers name, as the voltage
  return reasons;
}

/// Drivers that gave the older call up have a versioned one.
Answer<double> temperature(DeviceCalls& calls) {
  const Functions& nvml = calls.nvml();
  if (nvml.temperature.exists() || !nvml.temperature_v1.exists()) {
    const auto heat = calls.number(nvml.temperature, abi::kTemperatureGpu);
    return {heat.code, static_cast<double>(heat.value)};
  }
  abi::TemperatureV1 heat{.version = abi::kTemperatureVersion1, .sensor = abi::kTemperatureGpu, .celsius = 0};
  const abi::Return code = calls.call(nvml.temperature_v1, &heat);
  return {code, static_cast<double>(heat.celsius)};
}

Answer<Seconds> held_back(DeviceCalls& calls, int policy) {
  abi::ViolationTime time{};
  const abi::Return code = calls.call(calls.nvml().violation, policy, &time);
  return {code, from_nanoseconds(static_cast<double>(time.violation_ns))};
}

}  // namespace

Result<FastReading> NvmlGpu::read_fast() {
  FastReading reading;
  const TimePoint begin = handle_.clock->now();
  if (const abi::Return code = read_fields(calls_, probed_.fast, reading); code != abi::kSuccess)
    return fail(failure(code, "read power and energy"));
  if (probed_.power == PowerPath::power_usage) {
    const auto power = calls_.number(calls_.nvml().power);
    if (no_answer(power.code)) return fail(failure(power.code, "read power"));
    if (power.ok()) reading.power = from_milliwatts(power.value);
  }
  if (probed_.counter_by_call) {
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
  const TimePoint begin = handle_.clock->now();
  abi::Return worst = read_fields(calls_, probed_.slow, reading);
  const auto note = [&](const auto& answer) {
    if (no_answer(answer.code)) worst = answer.code;
    return answer.ok();
  };
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
  if (const auto heat = temperature(calls_); note(heat)) reading.temperature = Celsius(heat.value);
  if (const auto bits = calls_.number(nvml.limiter); note(bits))
    reading.limiter = limiter_reasons(bits.value);
  if (const auto state = calls_.number(nvml.performance_state);
      note(state) && state.value < abi::kPerformanceStateUnknown)
    reading.performance_state = state.value;
  if (!reading.requested_limit)
    if (const auto limit = calls_.number(nvml.requested_limit); note(limit))
      reading.requested_limit = from_milliwatts(limit.value);
  if (!reading.enforced_limit)
    if (const auto limit = calls_.number(nvml.enforced_limit); note(limit))
      reading.enforced_limit = from_milliwatts(limit.value);
  if (probed_.power_cap_time_by_call)
    if (const auto time = held_back(calls_, abi::kPerfPolicyPower); note(time))
      reading.limited.power_cap = time.value;
  if (probed_.thermal_time_by_call)
    if (const auto time = held_back(calls_, abi::kPerfPolicyThermal); note(time))
      reading.limited.thermal = time.value;
  if (worst != abi::kSuccess) return fail(failure(worst, "read clocks, utilisation and limits"));
  reading.at = middle(begin, handle_.clock->now());
  return reading;
}

Result<ClockReading> NvmlGpu::read_clocks() {
  ClockReading reading;
  const TimePoint begin = handle_.clock->now();
  const auto sm = calls_.number(calls_.nvml().clock, abi::kClockSm);
  const auto memory = calls_.number(calls_.nvml().clock, abi::kClockMemory);
  for (const auto& answer : {sm, memory})
    if (no_answer(answer.code)) return fail(failure(answer.code, "read clocks"));
  if (sm.ok()) reading.sm = Megahertz(sm.value);
  if (memory.ok()) reading.memory = Megahertz(memory.value);
  reading.at = middle(begin, handle_.clock->now());
  return reading;
}

}  // namespace rubato::device::nvml
