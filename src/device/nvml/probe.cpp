#include "device/nvml/probe.h"

#include <string>

#include "base/text.h"
#include "device/nvml/errors.h"

namespace rubato::device::nvml {
namespace {

std::string missing(const char* function) {
  return cat("this driver's NVML has no ", function);
}

/// First obstacle in a fixed order: what no right helps with comes first.
Capability first_no(std::initializer_list<Capability> conditions) {
  for (const Capability& condition : conditions)
    if (!condition.available) return condition;
  return Capability::yes();
}

template <class Signature>
Capability has(const Function<Signature>& function) {
  if (function.exists()) return Capability::yes();
  return Capability::no(missing(function.name()), "a newer driver may have it");
}

Capability whole_gpu(DeviceCalls& calls) {
  unsigned current = 0;
  unsigned pending = 0;
  if (calls.call(calls.nvml().mig_mode, &current, &pending) == abi::kSuccess && current != 0)
    return Capability::no("MIG is on, and limits and clocks belong to the whole GPU",
                          "'nvidia-smi -mig 0' turns it off");
  int mode = 0;
  if (calls.call(calls.nvml().virtualization, &mode) != abi::kSuccess) return Capability::yes();
  if (mode == abi::kVirtualizationVgpu)
    return Capability::no("this is a vGPU, whose limits and clocks belong to its host",
                          "run rubato on the host");
  if (mode == abi::kVirtualizationHostVgpu || mode == abi::kVirtualizationHostVsga)
    return Capability::no("this GPU is shared out to virtual machines, whose work rubato cannot see",
                          "give the whole GPU to one machine (passthrough)");
  return Capability::yes();
}

Capability at_least(const Answer<unsigned>& architecture, unsigned needed, std::string_view needed_name) {
  if (architecture.ok() && architecture.value >= needed) return Capability::yes();
  if (!architecture.ok()) return Capability::no("the driver does not tell the GPU's architecture");
  return Capability::no(cat("needs ", needed_name, " or newer (architecture ", needed,
                            "), and this GPU is older (", architecture.value, ")"));
}

Capability several_memory_clocks(DeviceCalls& calls) {
  const auto clocks = calls.memory_clocks();
  if (!clocks.ok()) return probe_detail::readable(clocks.code, calls.nvml().memory_clocks.name());
  if (clocks.value.size() > 1) return Capability::yes();
  return Capability::no("the GPU has a single memory clock, so there is nothing to choose");
}

/// Asked of the driver where it tells; told by the compute capability where it is too old to.
Answer<unsigned> architecture_of(const Answer<unsigned>& told, ComputeCapability chip) {
  if (told.ok() || chip.major == 0) return told;
  switch (chip.major) {
    case 3:
      return {abi::kSuccess, abi::kArchKepler};
    case 5:
      return {abi::kSuccess, abi::kArchMaxwell};
    case 6:
      return {abi::kSuccess, abi::kArchPascal};
    case 7:
      return {abi::kSuccess, chip.minor < 5 ? abi::kArchVolta : abi::kArchTuring};
    case 8:
      return {abi::kSuccess, chip.minor < 9 ? abi::kArchAmpere : abi::kArchAda};
    default:
      return {abi::kSuccess, chip.major < 10 ? abi::kArchHopper : abi::kArchBlackwell};
  }
}

/// Both the value that stands and the one that a reset sets: without either they cannot be put back as found.
Capability application_clocks_readable(DeviceCalls& calls) {
  for (const auto* getter : {&calls.nvml().application_clock, &calls.nvml().default_application_clock}) {
    for (const int kind : {abi::kClockGraphics, abi::kClockMemory}) {
      const abi::Return code = calls.number(*getter, kind).code;
      if (code != abi::kSuccess) return probe_detail::readable(code, getter->name());
    }
  }
  return Capability::yes();
}

}  // namespace

Capability probe_detail::readable(abi::Return code, const char* function) {
  if (code == abi::kSuccess) return Capability::yes();
  if (code == abi::kFunctionNotFound) return Capability::no(missing(function), "a newer driver may have it");
  return Capability::no(cat(function, " answers ", name_of_return(code)), from_return(code, "").hint);
}

Result<Probed> probe(DeviceCalls& calls, const GpuIdentity& gpu, DriverVersion driver,
                     const Capability& right) {
  using probe_detail::readable;
  const Functions& nvml = calls.nvml();
  Probed found;
  Capabilities& can = found.capabilities;
  calls.call(nvml.compute_capability, &found.chip.major, &found.chip.minor);
  const auto told = calls.number(nvml.architecture);
  // The second for drivers too old to know the first.
  for (const abi::Return code : {told.code, calls.number(nvml.power).code})
    if (no_answer(code)) return fail(from_return(code, cat(describe(gpu), " does not answer")));
  const auto architecture = architecture_of(told, found.chip);
  probe_detail::probe_power(calls, found);
  probe_detail::probe_limits(calls, gpu, found);
  probe_detail::probe_limiter_times(calls, driver, found);

  can.read_clocks = readable(calls.number(nvml.clock, abi::kClockSm).code, nvml.clock.name());
  abi::Utilization utilization{};
  can.read_utilisation = readable(calls.call(nvml.utilization, &utilization), nvml.utilization.name());
  can.read_limiter = readable(calls.number(nvml.limiter).code, nvml.limiter.name());
  can.read_application_clocks = application_clocks_readable(calls);
  can.read_counters = probe_detail::probe_counters(calls);
  can.read_processes = nvml.processes.exists() || nvml.processes_v1.exists()
                           ? Capability::yes()
                           : Capability::no(missing(nvml.processes.name()));

  const Capability whole = whole_gpu(calls);
  unsigned lowest = 0;
  unsigned highest = 0;
  const Capability range = readable(calls.call(nvml.limit_range, &lowest, &highest), nvml.limit_range.name());
  const Capability requested = readable(calls.number(nvml.requested_limit).code, nvml.requested_limit.name());
  can.set_power_limit = first_no({has(nvml.set_limit), range, requested, whole, right});
  can.set_sm_clock = first_no({has(nvml.lock_sm), has(nvml.reset_sm),
                               at_least(architecture, abi::kArchVolta, "Volta"), whole, right});
  can.set_memory_clock = first_no({has(nvml.lock_memory), has(nvml.reset_memory),
                                   at_least(architecture, abi::kArchAmpere, "Ampere"),
                                   several_memory_clocks(calls), whole, right});
  can.set_application_clocks = first_no(
      {has(nvml.set_application), has(nvml.reset_application), can.read_application_clocks, whole, right});
  return found;
}

}  // namespace rubato::device::nvml
