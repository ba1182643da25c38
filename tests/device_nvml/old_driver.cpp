// A driver's library so old that it knows little: built once per missing piece (see CMakeLists.txt).
#include <cstdio>

#include "device/nvml/abi.h"

namespace abi = rubato::device::nvml::abi;

#define EXPORTED extern "C" __attribute__((visibility("default")))

#ifndef INIT_RESULT
#define INIT_RESULT abi::kSuccess
#endif
#ifndef GPU_COUNT
#define GPU_COUNT 1U
#endif

EXPORTED abi::Return nvmlInit() {
  return INIT_RESULT;
}
EXPORTED abi::Return nvmlDeviceGetCount(unsigned* count) {
  *count = GPU_COUNT;
  return abi::kSuccess;
}

#ifdef WITH_IDENTITY
EXPORTED abi::Return nvmlDeviceGetHandleByIndex(unsigned index, abi::Device* device) {
  static char gpus[2] = {};
  // The second GPU fell off the bus.
  if (index > 0) return abi::kGpuIsLost;
  *device = reinterpret_cast<abi::Device>(&gpus[index]);
  return abi::kSuccess;
}
EXPORTED abi::Return nvmlDeviceGetUUID(abi::Device, char* uuid, unsigned size) {
  std::snprintf(uuid, size, "GPU-old");
  return abi::kSuccess;
}
EXPORTED abi::Return nvmlDeviceGetPowerUsage(abi::Device, unsigned* mw) {
  *mw = 123'456;
  return abi::kSuccess;
}
EXPORTED abi::Return nvmlDeviceGetComputeRunningProcesses(abi::Device, unsigned* count,
                                                          abi::ProcessV1* rows) {
  constexpr unsigned kRunning = 70;  // more than a first guess makes room for
  const bool fits = *count >= kRunning;
  *count = kRunning;
  if (!fits) return abi::kInsufficientSize;
  for (unsigned i = 0; i < kRunning; ++i) rows[i] = {.pid = 1000 + i, .used_memory = abi::kValueNotAvailable};
  return abi::kSuccess;
}
#endif
