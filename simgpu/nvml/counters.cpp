// What the driver counts or keeps by itself: time below the asked clock, and recent samples.
#include <algorithm>
#include <cmath>
#include <optional>

#include "simgpu/nvml/client_abi.h"
#include "simgpu/nvml/entry.h"
#include "simgpu/nvml/units.h"
#include "simgpu/nvml/wall_time.h"

namespace rubato::simgpu {
namespace {

using sim::CallId;
using sim::Readout;

std::optional<Seconds> violation_of(int policy, const Readout& r) {
  const Seconds thermal = r.thermal_violation + r.hw_thermal_violation;
  switch (policy) {
    case abi::kPerfPolicyPower:
      return r.power_violation;
    case abi::kPerfPolicyThermal:
      return thermal;
    case client::kPolicyTotalAppClocks:
      return r.power_violation + thermal + r.power_brake_violation;
    default:
      return std::nullopt;  // limiters that no simulated GPU has
  }
}

bool known_policy(int policy) {
  return (policy >= abi::kPerfPolicyPower && policy <= client::kPolicyLastSingle) ||
         policy == client::kPolicyTotalAppClocks || policy == client::kPolicyTotalBaseClocks;
}

struct Latest {
  TimePoint at;
  unsigned value = 0;
};

CallId call_of(int kind) {
  switch (kind) {
    case client::kSamplesGpuUtilisation:
    case client::kSamplesMemoryUtilisation:
      return CallId::read_utilisation;
    case client::kSamplesSmClock:
    case client::kSamplesMemoryClock:
      return CallId::read_clocks;
    default:
      return CallId::read_power;
  }
}

std::optional<Latest> latest_of(int kind, const Readout& r) {
  switch (kind) {
    case client::kSamplesPower:
      return Latest{r.power_updated, milliwatts(r.power_instant)};
    case client::kSamplesModulePower:
      if (!r.module_power) return std::nullopt;
      return Latest{r.power_updated, milliwatts(*r.module_power)};
    case client::kSamplesGpuUtilisation:
      return Latest{r.at, percent(r.sm_utilisation)};
    case client::kSamplesMemoryUtilisation:
      return Latest{r.at, percent(r.memory_utilisation)};
    case client::kSamplesSmClock:
      return Latest{r.at, megahertz(r.sm_clock)};
    case client::kSamplesMemoryClock:
      return Latest{r.at, megahertz(r.memory_clock)};
    default:
      return std::nullopt;  // video engines
  }
}

}  // namespace

RUBATO_EXPORT abi::Return nvmlDeviceGetViolationStatus(abi::Device device, int policy,
                                                       abi::ViolationTime* time) {
  return read_into(__func__, device, CallId::read_limiter, time,
                   [&](const GpuView& view, const Readout& r, abi::ViolationTime* out) {
                     if (!known_policy(policy)) return abi::kInvalidArgument;
                     const auto violation = violation_of(policy, r);
                     if (!violation) return abi::kNotSupported;
                     *out = {.reference_us = wall_stamp_us(view.world, r.at),
                             .violation_ns = nanoseconds(*violation)};
                     return abi::kSuccess;
                   });
}

// The world keeps no past, so the buffer holds one sample: the sensor's latest. A client that asks at least
// as often as the sensor is refreshed misses nothing.
RUBATO_EXPORT abi::Return nvmlDeviceGetSamples(abi::Device device, int kind, unsigned long long last_seen_us,
                                               int* value_type, unsigned* count,
                                               client::SampleValue* samples) {
  return on_gpu(__func__, device, {value_type, count}, [&](const GpuView& view) {
    if (kind < 0 || kind > client::kSamplesLast) return abi::kInvalidArgument;
    if (samples != nullptr && *count == 0) return abi::kInvalidArgument;
    const auto readout = view.read(call_of(kind));
    if (!readout) return to_return(readout.error());
    const auto latest = latest_of(kind, *readout);
    if (!latest) return abi::kNotSupported;
    *value_type = static_cast<int>(abi::ValueType::unsigned_int);
    const unsigned long long stamp = wall_stamp_us(view.world, latest->at);
    if (samples != nullptr && stamp <= last_seen_us) return abi::kNotFound;
    *count = 1;
    if (samples == nullptr) return abi::kSuccess;
    *samples = {.timestamp_us = stamp, .value = {}};
    samples->value.unsigned_int = latest->value;
    return abi::kSuccess;
  });
}

}  // namespace rubato::simgpu
