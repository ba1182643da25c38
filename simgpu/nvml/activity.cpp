#include <algorithm>
#include <cmath>

#include "simgpu/nvml/client_abi.h"
#include "simgpu/nvml/entry.h"
#include "simgpu/nvml/units.h"

namespace rubato::simgpu {
namespace {

using sim::CallId;
using sim::Readout;

unsigned long long bits_of(const LimiterReasons& reasons) {
  unsigned long long bits = 0;
  if (reasons.idle) bits |= abi::kReasonIdle;
  if (reasons.power_cap) bits |= abi::kReasonSwPowerCap;
  if (reasons.thermal) bits |= abi::kReasonSwThermal;
  if (reasons.hardware) bits |= abi::kReasonHwSlowdown;
  if (reasons.user_clocks) bits |= abi::kReasonUserClocks;
  if (reasons.other) bits |= abi::kReasonSyncBoost;
  return bits;
}

abi::Return limiter(const char* function, abi::Device device, unsigned long long* bits) {
  return read_into(function, device, CallId::read_limiter, bits,
                   [](const GpuView&, const Readout& r, unsigned long long* out) {
                     *out = bits_of(r.limiter);
                     return abi::kSuccess;
                   });
}

abi::Return supported_limiters(const char* function, abi::Device device, unsigned long long* bits) {
  return on_gpu(function, device, {bits}, [&](const GpuView&) {
    *bits = abi::kReasonIdle | abi::kReasonUserClocks | abi::kReasonSwPowerCap | abi::kReasonHwSlowdown |
            abi::kReasonSwThermal | abi::kReasonHwThermal | abi::kReasonHwPowerBrake;
    return abi::kSuccess;
  });
}

}  // namespace

RUBATO_EXPORT abi::Return nvmlDeviceGetUtilizationRates(abi::Device device, abi::Utilization* busy) {
  return read_into(__func__, device, CallId::read_utilisation, busy,
                   [](const GpuView&, const Readout& r, abi::Utilization* out) {
                     *out = {percent(r.sm_utilisation), percent(r.memory_utilisation)};
                     return abi::kSuccess;
                   });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetTemperature(abi::Device device, int sensor, unsigned* celsius) {
  return read_into(__func__, device, CallId::read_temperature, celsius,
                   [&](const GpuView&, const Readout& r, unsigned* out) {
                     if (sensor != abi::kTemperatureGpu) return abi::kInvalidArgument;
                     *out = static_cast<unsigned>(std::llround(std::max(0.0, r.temperature.value())));
                     return abi::kSuccess;
                   });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetPerformanceState(abi::Device device, unsigned* state) {
  return read_into(__func__, device, CallId::read_clocks, state,
                   [](const GpuView&, const Readout& r, unsigned* out) {
                     *out = r.performance_state;
                     return abi::kSuccess;
                   });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetTemperatureV(abi::Device device, abi::TemperatureV1* temperature) {
  return read_into(__func__, device, CallId::read_temperature, temperature,
                   [](const GpuView&, const Readout& r, abi::TemperatureV1* out) {
                     if (out->version != abi::kTemperatureVersion1) return abi::kArgumentVersionMismatch;
                     if (out->sensor != abi::kTemperatureGpu) return abi::kInvalidArgument;
                     out->celsius = static_cast<int>(std::llround(r.temperature.value()));
                     return abi::kSuccess;
                   });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetTemperatureThreshold(abi::Device device, int kind, unsigned* celsius) {
  return on_gpu(__func__, device, {celsius}, [&](const GpuView& view) {
    if (kind < 0 || kind > client::kThresholdLast) return abi::kInvalidArgument;
    if (kind != client::kThresholdHwSlowdown && kind != client::kThresholdSlowdown) return abi::kNotSupported;
    const auto& profile = view.profile();
    const Celsius threshold = kind == client::kThresholdSlowdown ? profile.slowdown : profile.hw_slowdown;
    *celsius = static_cast<unsigned>(std::llround(threshold.value()));
    return abi::kSuccess;
  });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetPowerState(abi::Device device, unsigned* state) {
  return read_into(__func__, device, CallId::read_clocks, state,
                   [](const GpuView&, const Readout& r, unsigned* out) {
                     *out = r.performance_state;
                     return abi::kSuccess;
                   });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetMemoryInfo(abi::Device device, abi::Memory* memory) {
  return read_into(__func__, device, CallId::read_utilisation, memory,
                   [](const GpuView& view, const Readout& r, abi::Memory* out) {
                     const auto total = view.profile().memory_bytes;
                     const auto used = std::min<unsigned long long>(total, r.memory_used_bytes);
                     *out = {.total = total, .free = total - used, .used = used};
                     return abi::kSuccess;
                   });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetMemoryInfo_v2(abi::Device device, abi::MemoryV2* memory) {
  return read_into(
      __func__, device, CallId::read_utilisation, memory,
      [](const GpuView& view, const Readout& r, abi::MemoryV2* out) {
        if (out->version != abi::kMemoryVersion2) return abi::kArgumentVersionMismatch;
        const auto total = view.profile().memory_bytes;
        const auto used = std::min<unsigned long long>(total, r.memory_used_bytes);
        *out = {.version = out->version, .total = total, .reserved = 0, .free = total - used, .used = used};
        return abi::kSuccess;
      });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetCurrentClocksEventReasons(abi::Device device,
                                                                 unsigned long long* bits) {
  return limiter(__func__, device, bits);
}
RUBATO_EXPORT abi::Return nvmlDeviceGetCurrentClocksThrottleReasons(abi::Device device,
                                                                    unsigned long long* bits) {
  return limiter(__func__, device, bits);
}

RUBATO_EXPORT abi::Return nvmlDeviceGetSupportedClocksEventReasons(abi::Device device,
                                                                   unsigned long long* bits) {
  return supported_limiters(__func__, device, bits);
}
RUBATO_EXPORT abi::Return nvmlDeviceGetSupportedClocksThrottleReasons(abi::Device device,
                                                                      unsigned long long* bits) {
  return supported_limiters(__func__, device, bits);
}

}  // namespace rubato::simgpu
