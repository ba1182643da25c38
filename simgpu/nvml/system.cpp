#include <string>

#include "base/text.h"
#include "device/nvml/abi.h"
#include "simgpu/nvml/driver.h"
#include "simgpu/nvml/entry.h"

namespace rubato::simgpu {

RUBATO_EXPORT abi::Return nvmlInit_v2() {
  return trace(__func__, start_session());
}
RUBATO_EXPORT abi::Return nvmlInit() {
  return trace(__func__, start_session());
}
RUBATO_EXPORT abi::Return nvmlInitWithFlags(unsigned) {
  return trace(__func__, start_session());
}
RUBATO_EXPORT abi::Return nvmlShutdown() {
  return trace(__func__, end_session());
}

RUBATO_EXPORT const char* nvmlErrorString(abi::Return code) {
  switch (code) {
    case abi::kSuccess:
      return "Success (simulated GPU)";
    case abi::kUninitialized:
      return "Not initialised: call nvmlInit first";
    case abi::kInvalidArgument:
      return "Invalid argument";
    case abi::kNotSupported:
      return "Not supported by this simulated GPU";
    case abi::kNoPermission:
      return "Insufficient permissions in this simulated world";
    case abi::kNotFound:
      return "Not found";
    case abi::kInsufficientSize:
      return "Buffer too small";
    case abi::kDriverNotLoaded:
      return "The simulated driver is not loaded";
    case abi::kTimeout:
      return "Timeout";
    case abi::kFunctionNotFound:
      return "The simulated driver lacks this function";
    case abi::kGpuIsLost:
      return "The simulated GPU is lost";
    case abi::kOperatingSystem:
      return "The simulated world's file cannot be used";
    case abi::kInUse:
      return "In use";
    case abi::kInvalidState:
      return "The simulated world is in another state than needed";
    default:
      return "Unknown error of the simulated driver";
  }
}

RUBATO_EXPORT abi::Return nvmlSystemGetDriverVersion(char* text, unsigned size) {
  return in_session(__func__, {text},
                    [&](sim::SimWorld& here) { return copy_text(driver_text(here), text, size); });
}

// NVML counts itself by CUDA's major number.
RUBATO_EXPORT abi::Return nvmlSystemGetNVMLVersion(char* text, unsigned size) {
  return in_session(__func__, {text}, [&](sim::SimWorld& here) {
    return copy_text(cat(cuda_of(driver_of(here)) / 1000, ".", driver_text(here)), text, size);
  });
}

RUBATO_EXPORT abi::Return nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return in_session(__func__, {version}, [&](sim::SimWorld& here) {
    *version = cuda_of(driver_of(here));
    return abi::kSuccess;
  });
}
RUBATO_EXPORT abi::Return nvmlSystemGetCudaDriverVersion(int* version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}

RUBATO_EXPORT abi::Return nvmlDeviceGetCount_v2(unsigned* count) {
  return in_session(__func__, {count}, [&](sim::SimWorld& here) {
    *count = here.gpu_count();
    return abi::kSuccess;
  });
}
RUBATO_EXPORT abi::Return nvmlDeviceGetCount(unsigned* count) {
  return nvmlDeviceGetCount_v2(count);
}

RUBATO_EXPORT abi::Return nvmlDeviceGetHandleByIndex_v2(unsigned index, abi::Device* device) {
  return in_session(__func__, {device}, [&](sim::SimWorld& here) {
    if (index >= here.gpu_count()) return abi::kInvalidArgument;
    *device = handle_of(index);
    return abi::kSuccess;
  });
}
RUBATO_EXPORT abi::Return nvmlDeviceGetHandleByIndex(unsigned index, abi::Device* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

RUBATO_EXPORT abi::Return nvmlDeviceGetHandleByUUID(const char* uuid, abi::Device* device) {
  return in_session(__func__, {uuid, device}, [&](sim::SimWorld& here) {
    const auto gpu = here.find(uuid);
    if (!gpu) return abi::kNotFound;
    *device = handle_of(*gpu);
    return abi::kSuccess;
  });
}

}  // namespace rubato::simgpu
