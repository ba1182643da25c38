#include <algorithm>
#include <cmath>
#include <vector>

#include "simgpu/nvml/entry.h"

namespace rubato::simgpu {
namespace {

using sim::CallId;
using sim::Readout;

unsigned percent(double fraction) {
  return static_cast<unsigned>(std::llround(std::clamp(fraction, 0.0, 1.0) * 100));
}

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

void fill(abi::ProcessV1& row, const ComputeProcess& process) {
  row.pid = static_cast<unsigned>(process.pid);
  row.used_memory = process.memory_bytes.value_or(abi::kValueNotAvailable);
}

void fill(abi::Process& row, const ComputeProcess& process) {
  row.pid = static_cast<unsigned>(process.pid);
  row.used_memory = process.memory_bytes.value_or(abi::kValueNotAvailable);
  row.gpu_instance = ~0U;  // no MIG
  row.compute_instance = ~0U;
}

template <class Row>
abi::Return list_processes(const char* function, abi::Device device, unsigned* count, Row* rows) {
  return on_gpu(function, device, {count}, [&](const GpuView& view) {
    const auto processes = view.world.read_processes(view.gpu, view.now);
    if (!processes) return to_return(processes.error());
    const unsigned room = rows == nullptr ? 0 : *count;
    *count = static_cast<unsigned>(processes->size());
    if (*count > room) return abi::kInsufficientSize;
    for (std::size_t i = 0; i < processes->size(); ++i) fill(rows[i], (*processes)[i]);
    return abi::kSuccess;
  });
}

/// A simulated GPU drives no display.
abi::Return no_processes(const char* function, abi::Device device, unsigned* count) {
  return on_gpu(function, device, {count}, [&](const GpuView&) {
    *count = 0;
    return abi::kSuccess;
  });
}

abi::Return limiter(const char* function, abi::Device device, unsigned long long* bits) {
  return read_into(function, device, CallId::read_limiter, bits,
                   [](const GpuView&, const Readout& r, unsigned long long* out) {
                     *out = bits_of(r.limiter);
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

RUBATO_EXPORT abi::Return nvmlDeviceGetComputeRunningProcesses(abi::Device device, unsigned* count,
                                                               abi::ProcessV1* rows) {
  return list_processes(__func__, device, count, rows);
}
RUBATO_EXPORT abi::Return nvmlDeviceGetComputeRunningProcesses_v2(abi::Device device, unsigned* count,
                                                                  abi::Process* rows) {
  return list_processes(__func__, device, count, rows);
}
RUBATO_EXPORT abi::Return nvmlDeviceGetComputeRunningProcesses_v3(abi::Device device, unsigned* count,
                                                                  abi::Process* rows) {
  return list_processes(__func__, device, count, rows);
}

RUBATO_EXPORT abi::Return nvmlDeviceGetGraphicsRunningProcesses(abi::Device device, unsigned* count,
                                                                abi::ProcessV1*) {
  return no_processes(__func__, device, count);
}
RUBATO_EXPORT abi::Return nvmlDeviceGetGraphicsRunningProcesses_v2(abi::Device device, unsigned* count,
                                                                   abi::Process*) {
  return no_processes(__func__, device, count);
}
RUBATO_EXPORT abi::Return nvmlDeviceGetGraphicsRunningProcesses_v3(abi::Device device, unsigned* count,
                                                                   abi::Process*) {
  return no_processes(__func__, device, count);
}

}  // namespace rubato::simgpu
