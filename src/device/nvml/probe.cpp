#include "device/nvml/probe.h"

#include <string>

#include "base/text.h"
#include "device/nvml/errors.h"

namespace rubato::device::nvml {
namespace {

std::string missing(const char* function) {
  return cat("this driver's NVML has no ", function);
}

/// A read-out is there if it just worked.
Capability readable(abi::Return code, const char* function) {
  if (code == abi::kSuccess) return Capability::yes();
  if (code == abi::kFunctionNotFound) return Capability::no(missing(function), "a newer driver may have it");
  return Capability::no(cat(function, " answers ", name_of_return(code)), from_return(code, "").hint);
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
  if (calls.call(calls.nvml().virtualization, &mode) == abi::kSuccess && mode == abi::kVirtualizationVgpu)
    return Capability::no("this is a vGPU, whose limits and clocks belong to its host",
                          "run rubato on the host");
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
  if (!clocks.ok()) return readable(clocks.code, calls.nvml().memory_clocks.name());
  if (clocks.value.size() > 1) return Capability::yes();
  return Capability::no("the GPU has a single memory clock, so there is nothing to choose");
}

Capability application_clocks_useful(const Answer<unsigned>& architecture) {
  if (architecture.ok() && architecture.value < abi::kArchVolta) return Capability::yes();
  return Capability::no("deprecated by the driver; locked clocks take its place from Volta on");
}

void probe_power(DeviceCalls& calls, Probed& found) {
  const auto instant = calls.field(abi::kFieldPowerInstant);
  const auto usage = instant.ok() ? Answer<unsigned>{} : calls.number(calls.nvml().power);
  if (instant.ok())
    found.power = PowerPath::instant_field;
  else if (usage.ok())
    found.power = PowerPath::power_usage;
  found.capabilities.read_power =
      instant.ok() ? Capability::yes() : readable(usage.code, calls.nvml().power.name());

  const auto counter = calls.field(abi::kFieldTotalEnergy);
  const auto total = counter.ok() ? Answer<unsigned long long>{} : calls.number(calls.nvml().energy);
  if (counter.ok())
    found.energy = EnergyPath::field;
  else if (total.ok())
    found.energy = EnergyPath::total_energy;
  found.capabilities.read_energy_counter =
      counter.ok() ? Capability::yes() : readable(total.code, calls.nvml().energy.name());
}

}  // namespace

Result<Probed> probe(DeviceCalls& calls, const GpuIdentity& gpu, const Capability& right) {
  const Functions& nvml = calls.nvml();
  Probed found;
  Capabilities& can = found.capabilities;
  calls.call(nvml.compute_capability, &found.chip.major, &found.chip.minor);
  const auto architecture = calls.number(nvml.architecture);
  if (error_code_of(architecture.code) == ErrorCode::device_lost)
    return fail(from_return(architecture.code, cat(describe(gpu), " does not answer")));
  probe_power(calls, found);

  can.read_clocks = readable(calls.number(nvml.clock, abi::kClockSm).code, nvml.clock.name());
  abi::Utilization utilization{};
  can.read_utilisation = readable(calls.call(nvml.utilization, &utilization), nvml.utilization.name());
  can.read_limiter = readable(calls.number(nvml.limiter).code, nvml.limiter.name());
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
  can.set_application_clocks =
      first_no({application_clocks_useful(architecture), has(nvml.set_application),
                has(nvml.reset_application), has(nvml.application_clock), whole, right});
  return found;
}

}  // namespace rubato::device::nvml
