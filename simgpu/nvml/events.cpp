// Event sets: there to be had and waited on; a simulated GPU raises no event.
#include <algorithm>
#include <chrono>
#include <thread>

#include "simgpu/nvml/client_abi.h"
#include "simgpu/nvml/entry.h"

namespace rubato::simgpu {

// nvidia-smi shows nothing at all without one.
RUBATO_EXPORT abi::Return nvmlEventSetCreate(abi::EventSet* set) {
  return in_session(__func__, {set}, [&](sim::SimWorld&) {
    static char the_set = 0;
    *set = reinterpret_cast<abi::EventSet>(&the_set);
    return abi::kSuccess;
  });
}

RUBATO_EXPORT abi::Return nvmlEventSetFree(abi::EventSet set) {
  return in_session(__func__, {set}, [](sim::SimWorld&) { return abi::kSuccess; });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetSupportedEventTypes(abi::Device device, unsigned long long* types) {
  return on_gpu(__func__, device, {types}, [&](const GpuView&) {
    *types = 0;
    return abi::kSuccess;
  });
}

RUBATO_EXPORT abi::Return nvmlDeviceRegisterEvents(abi::Device device, unsigned long long types,
                                                   abi::EventSet set) {
  return on_gpu(__func__, device, {set},
                [&](const GpuView&) { return types == 0 ? abi::kSuccess : abi::kNotSupported; });
}

namespace {

/// Waits as long as it was told, or else a client's loop would spin.
abi::Return wait_in_vain(const char* function, abi::EventSet set, client::EventData* data,
                         unsigned timeout_ms) {
  return in_session(function, {set, data}, [&](sim::SimWorld&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(timeout_ms));
    return abi::kTimeout;
  });
}

}  // namespace

RUBATO_EXPORT abi::Return nvmlEventSetWait(abi::EventSet set, client::EventData* data, unsigned timeout_ms) {
  return wait_in_vain(__func__, set, data, timeout_ms);
}
RUBATO_EXPORT abi::Return nvmlEventSetWait_v2(abi::EventSet set, client::EventData* data,
                                              unsigned timeout_ms) {
  return wait_in_vain(__func__, set, data, timeout_ms);
}

}  // namespace rubato::simgpu
