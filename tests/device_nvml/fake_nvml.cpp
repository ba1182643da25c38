#include "device_nvml/fake_nvml.h"

#include <cstdio>
#include <cstring>

namespace abi = rubato::device::nvml::abi;
namespace fake = rubato::device::nvml::fake;

#define EXPORTED extern "C" __attribute__((visibility("default")))

// ERA: the year of the driver.
#define SINCE_2023 (ERA >= 2023)
#define DEPRECATED_GONE (ERA >= 2027)

namespace {

fake::State state;
char handles[64];  // one for each session

struct Sample {
  int taken = 0;  // which one it was; 0: never filled
};

abi::Device present() {
  return reinterpret_cast<abi::Device>(&handles[state.inits]);
}

/// Whether the call may go on; `device` of an earlier session is the caller's mistake.
abi::Return enter(abi::Device device) {
  if (state.reset) return abi::kUninitialized;
  if (device != present()) {
    ++state.stale_handles;
    return abi::kInvalidArgument;
  }
  if (state.calls_until_lost == 0) return abi::kGpuIsLost;
  if (state.calls_until_lost > 0) --state.calls_until_lost;
  return state.gpu;
}

template <class T>
abi::Return give(abi::Device device, T value, T* out) {
  const abi::Return code = enter(device);
  if (code == abi::kSuccess) *out = value;
  return code;
}

abi::Return give_text(const char* text, char* out, unsigned size) {
  if (std::strlen(text) >= size) return abi::kInsufficientSize;
  std::memcpy(out, text, std::strlen(text) + 1);
  return abi::kSuccess;
}

template <class Number>
abi::Return give_list(abi::Device device, const Number* list, unsigned length, unsigned* count, Number* out) {
  if (const abi::Return code = enter(device); code != abi::kSuccess) return code;
  const bool fits = *count >= length;
  *count = length;
  if (!fits) return abi::kInsufficientSize;
  std::memcpy(out, list, length * sizeof(Number));
  return abi::kSuccess;
}

template <class Row>
abi::Return give_processes(abi::Device device, const unsigned* pids, unsigned* count, Row* rows) {
  if (const abi::Return code = enter(device); code != abi::kSuccess) return code;
  unsigned length = 0;
  while (length < 4 && pids[length] != 0) ++length;
  const bool fits = *count >= length;
  *count = length;
  if (!fits) return abi::kInsufficientSize;
  for (unsigned i = 0; i < length; ++i) {
    rows[i] = {};
    rows[i].pid = pids[i];
  }
  return abi::kSuccess;
}

abi::Return set(abi::Device device) {
  ++state.setting_calls;
  return enter(device);
}

}  // namespace

EXPORTED fake::State* fake_nvml_state() {
  return &state;
}

EXPORTED abi::Return nvmlInit_v2() {
  if (state.init != abi::kSuccess) return state.init;
  state.reset = false;
  ++state.inits;
  return abi::kSuccess;
}
EXPORTED abi::Return nvmlShutdown() {
  ++state.shutdowns;
  return abi::kSuccess;
}
EXPORTED abi::Return nvmlSystemGetDriverVersion(char* text, unsigned size) {
  return give_text(state.driver_version, text, size);
}
EXPORTED abi::Return nvmlSystemGetNVMLVersion(char* text, unsigned size) {
  return give_text("12.550.54", text, size);
}
EXPORTED abi::Return nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 1;
  return abi::kSuccess;
}
EXPORTED abi::Return nvmlDeviceGetHandleByIndex_v2(unsigned, abi::Device* device) {
  *device = present();
  return state.gpu;
}
EXPORTED abi::Return nvmlDeviceGetHandleByUUID(const char*, abi::Device* device) {
  ++state.lookups;
  if (state.reset) return abi::kUninitialized;
  *device = present();
  return state.gpu;
}
EXPORTED abi::Return nvmlDeviceGetName(abi::Device, char* text, unsigned size) {
  return give_text("Fake GPU", text, size);
}
EXPORTED abi::Return nvmlDeviceGetUUID(abi::Device, char* text, unsigned size) {
  return give_text("GPU-fake", text, size);
}

EXPORTED abi::Return nvmlDeviceGetPowerUsage(abi::Device device, unsigned* mw) {
  const abi::Return code = give(device, state.power_usage_mw, mw);
  return code == abi::kSuccess ? state.power_usage_result : code;
}
EXPORTED abi::Return nvmlDeviceGetPowerManagementLimit(abi::Device device, unsigned* mw) {
  return give(device, state.requested_mw, mw);
}
EXPORTED abi::Return nvmlDeviceGetPowerManagementDefaultLimit(abi::Device device, unsigned* mw) {
  return give(device, 300'000U, mw);
}
EXPORTED abi::Return nvmlDeviceGetEnforcedPowerLimit(abi::Device device, unsigned* mw) {
  return give(device, state.enforced_mw, mw);
}
EXPORTED abi::Return nvmlDeviceGetPowerManagementLimitConstraints(abi::Device device, unsigned* low,
                                                                  unsigned* high) {
  *high = 350'000;
  return give(device, 100'000U, low);
}
EXPORTED abi::Return nvmlDeviceSetPowerManagementLimit(abi::Device device, unsigned mw) {
  const abi::Return code = set(device);
  if (code == abi::kSuccess) state.requested_mw = mw;
  return code;
}

EXPORTED abi::Return nvmlDeviceGetClockInfo(abi::Device device, int kind, unsigned* mhz) {
  return give(device, kind == abi::kClockMemory ? 877U : 1380U, mhz);
}
EXPORTED abi::Return nvmlDeviceGetUtilizationRates(abi::Device device, abi::Utilization* busy) {
  return give(device, abi::Utilization{90, 40}, busy);
}
EXPORTED abi::Return nvmlDeviceGetPerformanceState(abi::Device device, unsigned* performance_state) {
  return give(device, 2U, performance_state);
}
EXPORTED abi::Return nvmlDeviceGetSupportedMemoryClocks(abi::Device device, unsigned* count, unsigned* mhz) {
  constexpr unsigned kMemory[] = {877, 405};
  return give_list(device, kMemory, 2, count, mhz);
}
EXPORTED abi::Return nvmlDeviceGetSupportedGraphicsClocks(abi::Device device, unsigned memory,
                                                          unsigned* count, unsigned* mhz) {
  constexpr unsigned kHigh[] = {1380, 1200, 135};
  constexpr unsigned kLow[] = {405, 135};
  if (memory == 877) return give_list(device, kHigh, 3, count, mhz);
  if (state.low_memory_clock_result != abi::kSuccess) return state.low_memory_clock_result;
  return give_list(device, kLow, 2, count, mhz);
}

#if !DEPRECATED_GONE
EXPORTED abi::Return nvmlDeviceGetTemperature(abi::Device device, int, unsigned* celsius) {
  return give(device, 61U, celsius);
}
EXPORTED abi::Return nvmlDeviceGetCurrentClocksThrottleReasons(abi::Device device, unsigned long long* bits) {
  return give(device, abi::kReasonSwPowerCap, bits);
}
EXPORTED abi::Return nvmlDeviceGetViolationStatus(abi::Device device, int policy, abi::ViolationTime* time) {
  if (policy != abi::kPerfPolicyPower && policy != abi::kPerfPolicyThermal) return abi::kInvalidArgument;
  return give(device, abi::ViolationTime{0, state.held_back_ns[policy]}, time);
}
EXPORTED abi::Return nvmlDeviceGetComputeRunningProcesses(abi::Device device, unsigned* count,
                                                          abi::ProcessV1* rows) {
  return give_processes(device, state.compute_pids, count, rows);
}
EXPORTED abi::Return nvmlDeviceGetPciInfo_v2(abi::Device, abi::PciInfo* pci) {
  std::snprintf(pci->bus_id_legacy, sizeof pci->bus_id_legacy, "0000:1B:00.0");
  return abi::kSuccess;
}
EXPORTED abi::Return nvmlDeviceGetApplicationsClock(abi::Device device, int kind, unsigned* mhz) {
  return give(device, kind == abi::kClockMemory ? state.application_memory : state.application_sm, mhz);
}
EXPORTED abi::Return nvmlDeviceGetDefaultApplicationsClock(abi::Device device, int kind, unsigned* mhz) {
  return give(device, kind == abi::kClockMemory ? 877U : 1380U, mhz);
}
EXPORTED abi::Return nvmlDeviceSetApplicationsClocks(abi::Device device, unsigned memory, unsigned sm) {
  const abi::Return code = set(device);
  if (code == abi::kSuccess) state.application_memory = memory;
  if (code == abi::kSuccess) state.application_sm = sm;
  return code;
}
EXPORTED abi::Return nvmlDeviceResetApplicationsClocks(abi::Device device) {
  const abi::Return code = set(device);
  if (code == abi::kSuccess) ++state.resets_of_application_clocks;
  return code;
}
#endif

#if SINCE_2023
EXPORTED abi::Return nvmlDeviceGetPciInfo_v3(abi::Device, abi::PciInfo* pci) {
  std::snprintf(pci->bus_id, sizeof pci->bus_id, "00000000:1B:00.0");
  return abi::kSuccess;
}
EXPORTED abi::Return nvmlDeviceGetArchitecture(abi::Device device, unsigned* architecture) {
  const abi::Return code = give(device, state.architecture, architecture);
  return code == abi::kSuccess ? state.architecture_result : code;
}
EXPORTED abi::Return nvmlDeviceGetCudaComputeCapability(abi::Device device, int* major, int* minor) {
  *minor = state.chip_minor;
  return give(device, state.chip_major, major);
}
EXPORTED abi::Return nvmlDeviceGetMigMode(abi::Device device, unsigned* current, unsigned* pending) {
  *pending = state.mig;
  return give(device, state.mig, current);
}
EXPORTED abi::Return nvmlDeviceGetVirtualizationMode(abi::Device device, int* mode) {
  return give(device, state.virtualization, mode);
}
EXPORTED abi::Return nvmlDeviceGetTotalEnergyConsumption(abi::Device device, unsigned long long* mj) {
  const abi::Return code = give(device, state.counter_mj, mj);
  return code == abi::kSuccess ? state.counter_result : code;
}
EXPORTED abi::Return nvmlDeviceGetFieldValues(abi::Device device, int count, abi::FieldValue* values) {
  ++state.field_calls;
  if (const abi::Return code = enter(device); code != abi::kSuccess) return code;
  for (int i = 0; i < count; ++i) {
    values[i].result = abi::kNotSupported;
    for (const fake::Field& field : state.fields) {
      if (field.id == 0) break;
      if (field.id != values[i].field) continue;
      if (field.scope != values[i].scope && !state.ignores_scopes) continue;
      values[i].type = abi::ValueType::unsigned_long_long;
      values[i].value.unsigned_long_long = static_cast<unsigned long long>(field.value);
      values[i].result = abi::kSuccess;
    }
    if (values[i].result != abi::kSuccess && state.refuses_unknown_fields) return abi::kInvalidArgument;
  }
  return abi::kSuccess;
}
EXPORTED abi::Return nvmlDeviceGetComputeRunningProcesses_v3(abi::Device device, unsigned* count,
                                                             abi::Process* rows) {
  return give_processes(device, state.compute_pids, count, rows);
}
EXPORTED abi::Return nvmlDeviceGetMPSComputeRunningProcesses_v3(abi::Device device, unsigned* count,
                                                                abi::Process* rows) {
  return give_processes(device, state.mps_pids, count, rows);
}
EXPORTED abi::Return nvmlDeviceGetCurrentClocksEventReasons(abi::Device device, unsigned long long* bits) {
  return give(device, abi::kReasonSwPowerCap, bits);
}
EXPORTED abi::Return nvmlDeviceGetTemperatureV(abi::Device device, abi::TemperatureV1* temperature) {
  if (temperature->version != abi::kTemperatureVersion1) return abi::kArgumentVersionMismatch;
  return give(device, abi::TemperatureV1{temperature->version, temperature->sensor, 61}, temperature);
}
EXPORTED abi::Return nvmlDeviceSetGpuLockedClocks(abi::Device device, unsigned, unsigned) {
  return set(device);
}
EXPORTED abi::Return nvmlDeviceResetGpuLockedClocks(abi::Device device) {
  return set(device);
}
EXPORTED abi::Return nvmlDeviceSetMemoryLockedClocks(abi::Device device, unsigned, unsigned) {
  return set(device);
}
EXPORTED abi::Return nvmlDeviceResetMemoryLockedClocks(abi::Device device) {
  return set(device);
}
EXPORTED abi::Return nvmlGpmQueryDeviceSupport(abi::Device device, abi::GpmSupport* support) {
  if (support->version != abi::kGpmSupportVersion) return abi::kArgumentVersionMismatch;
  return give(device, state.monitors ? 1U : 0U, &support->supported);
}
EXPORTED abi::Return nvmlGpmSampleAlloc(abi::GpmSample* sample) {
  ++state.samples_allocated;
  *sample = reinterpret_cast<abi::GpmSample>(new Sample);
  return abi::kSuccess;
}
EXPORTED abi::Return nvmlGpmSampleFree(abi::GpmSample sample) {
  ++state.samples_freed;
  delete reinterpret_cast<Sample*>(sample);
  return abi::kSuccess;
}
EXPORTED abi::Return nvmlGpmSampleGet(abi::Device device, abi::GpmSample sample) {
  const abi::Return code = give(device, ++state.samples_taken, &reinterpret_cast<Sample*>(sample)->taken);
  return code == abi::kSuccess ? state.sample_result : code;
}
EXPORTED abi::Return nvmlGpmMetricsGet(abi::GpmMetricsGet* request) {
  ++state.metric_calls;
  if (request->version != abi::kGpmMetricsGetVersion) return abi::kArgumentVersionMismatch;
  const auto* earlier = reinterpret_cast<const Sample*>(request->earlier);
  const auto* later = reinterpret_cast<const Sample*>(request->later);
  if (earlier->taken == 0 || earlier->taken >= later->taken) return abi::kInvalidArgument;
  for (unsigned i = 0; i < request->count; ++i) {
    request->metrics[i].result = abi::kNotSupported;
    for (const fake::Metric& metric : state.metrics) {
      if (metric.id == 0) break;
      if (metric.id != request->metrics[i].id) continue;
      request->metrics[i].result = metric.result;
      request->metrics[i].value = metric.value;
    }
  }
  return state.metrics_result;
}
#endif
