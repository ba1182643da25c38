#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "simgpu/nvml/entry.h"

namespace rubato::simgpu {
namespace {

using sim::CallId;
using sim::Readout;

unsigned milliwatts(Watts w) {
  return static_cast<unsigned>(std::llround(std::max(0.0, w.value()) * 1000));
}

unsigned long long millijoules(Joules j) {
  return static_cast<unsigned long long>(j.value() * 1000);
}

/// Which of the world's calls a field belongs to; absent: this driver does not know the field.
std::optional<CallId> call_of(unsigned field) {
  switch (field) {
    case abi::kFieldTotalEnergy:
    case abi::kFieldEnergy:
      return CallId::read_energy_counter;
    case abi::kFieldPowerAverage:
    case abi::kFieldPowerInstant:
      return CallId::read_power;
    case abi::kFieldPowerMinLimit:
    case abi::kFieldPowerMaxLimit:
    case abi::kFieldPowerDefaultLimit:
    case abi::kFieldPowerCurrentLimit:
    case abi::kFieldPowerRequestedLimit:
      return CallId::read_power_limits;
    default:
      return std::nullopt;
  }
}

std::optional<Watts> watts_of(unsigned field, const Readout& readout) {
  switch (field) {
    case abi::kFieldPowerAverage:
      return readout.power_average;
    case abi::kFieldPowerInstant:
      return readout.power_instant;
    case abi::kFieldPowerMinLimit:
      return readout.limits.min;
    case abi::kFieldPowerMaxLimit:
      return readout.limits.max;
    case abi::kFieldPowerDefaultLimit:
      return readout.limits.default_limit;
    case abi::kFieldPowerCurrentLimit:
      return readout.limits.enforced;
    case abi::kFieldPowerRequestedLimit:
      return readout.limits.requested;
    default:
      return std::nullopt;
  }
}

abi::Return fill(const GpuView& view, abi::FieldValue& value) {
  const auto call = call_of(value.field);
  if (!call) return abi::kNotSupported;
  const auto readout = view.read(*call);
  if (!readout) return to_return(readout.error());
  if (const auto watts = watts_of(value.field, *readout)) {
    value.type = abi::ValueType::unsigned_int;
    value.value.unsigned_int = milliwatts(*watts);
    return abi::kSuccess;
  }
  if (!readout->energy_counter) return abi::kNotSupported;
  value.type = abi::ValueType::unsigned_long_long;
  value.value.unsigned_long_long = millijoules(*readout->energy_counter);
  return abi::kSuccess;
}

long long microseconds_since_1970() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
}

}  // namespace

RUBATO_EXPORT abi::Return nvmlDeviceGetFieldValues(abi::Device device, int count, abi::FieldValue* values) {
  return on_gpu(__func__, device, {values}, [&](const GpuView& view) {
    if (count < 1) return abi::kInvalidArgument;
    for (int i = 0; i < count; ++i) {
      values[i].value.unsigned_long_long = 0;
      values[i].latency_us = 0;
      values[i].result = fill(view, values[i]);
      values[i].timestamp_us = microseconds_since_1970();
    }
    return abi::kSuccess;
  });
}

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
