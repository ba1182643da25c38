#include "simgpu/nvml/client_abi.h"
#include "simgpu/nvml/entry.h"
#include "simgpu/nvml/units.h"

namespace rubato::simgpu {

using sim::CallId;
using sim::Readout;

RUBATO_EXPORT abi::Return nvmlDeviceGetPowerUsage(abi::Device device, unsigned* mw) {
  return read_into(__func__, device, CallId::read_power, mw,
                   [](const GpuView&, const Readout& r, unsigned* out) {
                     *out = milliwatts(r.power_average);
                     return abi::kSuccess;
                   });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetTotalEnergyConsumption(abi::Device device, unsigned long long* mj) {
  return read_into(__func__, device, CallId::read_energy_counter, mj,
                   [](const GpuView&, const Readout& r, unsigned long long* out) {
                     if (!r.energy_counter) return abi::kNotSupported;
                     *out = millijoules(*r.energy_counter);
                     return abi::kSuccess;
                   });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetPowerManagementLimit(abi::Device device, unsigned* mw) {
  return read_into(__func__, device, CallId::read_power_limits, mw,
                   [](const GpuView&, const Readout& r, unsigned* out) {
                     *out = milliwatts(r.limits.requested);
                     return abi::kSuccess;
                   });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetPowerManagementDefaultLimit(abi::Device device, unsigned* mw) {
  return read_into(__func__, device, CallId::read_power_limits, mw,
                   [](const GpuView&, const Readout& r, unsigned* out) {
                     *out = milliwatts(r.limits.default_limit);
                     return abi::kSuccess;
                   });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetEnforcedPowerLimit(abi::Device device, unsigned* mw) {
  return read_into(__func__, device, CallId::read_power_limits, mw,
                   [](const GpuView&, const Readout& r, unsigned* out) {
                     *out = milliwatts(r.limits.enforced);
                     return abi::kSuccess;
                   });
}

RUBATO_EXPORT abi::Return nvmlDeviceGetPowerManagementLimitConstraints(abi::Device device, unsigned* lowest,
                                                                       unsigned* highest) {
  return on_gpu(__func__, device, {lowest, highest}, [&](const GpuView& view) {
    const auto readout = view.read(CallId::read_power_limits);
    if (!readout) return to_return(readout.error());
    *lowest = milliwatts(readout->limits.min);
    *highest = milliwatts(readout->limits.max);
    return abi::kSuccess;
  });
}

RUBATO_EXPORT abi::Return nvmlDeviceSetPowerManagementLimit(abi::Device device, unsigned mw) {
  return on_gpu(__func__, device, {}, [&](const GpuView& view) {
    return to_return(view.world.set_power_limit(view.gpu, Watts(mw / 1000.0), view.now));
  });
}

// What nvidia-smi 535 calls; rubato keeps to the older one, which every driver has.
RUBATO_EXPORT abi::Return nvmlDeviceSetPowerManagementLimit_v2(abi::Device device, abi::PowerValueV2* value) {
  return on_gpu(__func__, device, {value}, [&](const GpuView& view) {
    if (value->version != abi::kPowerValueVersion2) return abi::kArgumentVersionMismatch;
    if (value->scope != abi::kPowerScopeGpu) return abi::kNotSupported;
    return to_return(view.world.set_power_limit(view.gpu, Watts(value->milliwatts / 1000.0), view.now));
  });
}

}  // namespace rubato::simgpu
