// Power and energy by scope: GPU, the module a superchip's GPU belongs to, and the GPU's memory.
#include <array>

#include "base/text.h"
#include "device/nvml/errors.h"
#include "device/nvml/probe.h"
#include "device/nvml/units.h"

namespace rubato::device::nvml {
namespace {

/// No such scope. A driver that answers all the same does not look at scopes, and would give the GPU's own
/// power as the module's.
constexpr unsigned kNoScope = 0xff;

constexpr FieldId kInstant{abi::kFieldPowerInstant, abi::kScopeGpu};
constexpr FieldId kAverage{abi::kFieldPowerAverage, abi::kScopeGpu};
constexpr FieldId kCounter{abi::kFieldTotalEnergy, abi::kScopeGpu};
constexpr FieldId kCounterOfGpu{abi::kFieldEnergy, abi::kScopeGpu};
constexpr FieldId kCounterOfModule{abi::kFieldEnergy, abi::kScopeModule};
constexpr std::array kAsked = {kInstant,
                               kAverage,
                               kCounter,
                               kCounterOfGpu,
                               kCounterOfModule,
                               FieldId{abi::kFieldPowerInstant, abi::kScopeModule},
                               FieldId{abi::kFieldPowerAverage, abi::kScopeModule},
                               FieldId{abi::kFieldPowerInstant, abi::kScopeMemory},
                               FieldId{abi::kFieldPowerAverage, abi::kScopeMemory},
                               FieldId{abi::kFieldPowerInstant, kNoScope},
                               FieldId{abi::kFieldEnergy, kNoScope}};

class Answers {
 public:
  explicit Answers(DeviceCalls& calls) : answers_(ask_fields(calls, kAsked)) {}

  [[nodiscard]] const Answer<double>& to(FieldId id) const {
    std::size_t i = 0;
    while (!(kAsked.at(i) == id)) ++i;
    return answers_.at(i);
  }
  [[nodiscard]] bool tells_scopes() const {
    return !to({abi::kFieldPowerInstant, kNoScope}).ok() && !to({abi::kFieldEnergy, kNoScope}).ok();
  }
  /// Another scope than the GPU's counts where its value is above zero.
  [[nodiscard]] bool has(FieldId id) const {
    return to(id).ok() && (id.scope == abi::kScopeGpu || (tells_scopes() && to(id).value > 0));
  }

 private:
  std::vector<Answer<double>> answers_;
};

using Put = void (*)(FastReading&, double);

Capability take_power_of(unsigned scope, std::string_view name, Put put, const Answers& answers,
                         Probed& found) {
  for (const unsigned field : {abi::kFieldPowerInstant, abi::kFieldPowerAverage}) {
    if (!answers.has({field, scope})) continue;
    found.fast.push_back({{field, scope}, put});
    return Capability::yes();
  }
  if (!answers.tells_scopes()) {
    return Capability::no(
        cat("this driver does not tell scopes apart: its ", name, " would be the GPU's own"),
        "a newer driver may");
  }
  return Capability::no(cat("the driver gives no ", name, " for this GPU (",
                            name_of_return(answers.to({abi::kFieldPowerInstant, scope}).code), ")"));
}

void take_gpu_power(DeviceCalls& calls, const Answers& answers, Probed& found) {
  Capabilities& can = found.capabilities;
  if (answers.has(kAverage)) {
    found.fast.push_back(
        {kAverage, [](FastReading& r, double mw) { r.power_average = from_milliwatts(mw); }});
    can.read_average_power = Capability::yes();
  } else {
    can.read_average_power = Capability::no(cat("the driver gives no average of its own for this GPU (",
                                                name_of_return(answers.to(kAverage).code), ")"));
  }
  if (answers.has(kInstant)) {
    found.power = PowerPath::instant_field;
    found.fast.push_back({kInstant, [](FastReading& r, double mw) { r.power = from_milliwatts(mw); }});
    can.read_power = Capability::yes();
    return;
  }
  const auto usage = calls.number(calls.nvml().power);
  if (usage.ok()) found.power = PowerPath::power_usage;
  can.read_power = probe_detail::readable(usage.code, calls.nvml().power.name());
  if (!usage.ok() && can.read_module_power.available) {
    can.read_power =
        Capability::no(cat("the driver gives the power of the whole module only: ", can.read_power.why_not),
                       "module power is recorded, under its own name");
  }
}

/// On a superchip a counter without a scope counts the whole module (Grace Hopper and GB10: Zeus pull
/// requests 172 and 242), so there only one that was asked for by the GPU's scope is taken for the GPU's.
void take_superchip_counters(const Answers& answers, Put gpu, Put module, Probed& found) {
  if (answers.has(kCounterOfGpu)) found.fast.push_back({kCounterOfGpu, gpu});
  if (answers.has(kCounterOfModule))
    found.fast.push_back({kCounterOfModule, module});
  else if (answers.has(kCounter) && !answers.has(kCounterOfGpu))
    found.fast.push_back({kCounter, module});
  found.capabilities.read_energy_counter =
      answers.has(kCounterOfGpu) ? Capability::yes()
                                 : Capability::no("the driver counts the energy of the whole module only",
                                                  "the counter is recorded under the module's name");
}

void take_counter(DeviceCalls& calls, const Answers& answers, Probed& found) {
  const Put gpu = [](FastReading& r, double mj) { r.energy_counter = from_millijoules(mj); };
  const Put module = [](FastReading& r, double mj) { r.module_energy_counter = from_millijoules(mj); };
  if (found.capabilities.read_module_power.available)
    return take_superchip_counters(answers, gpu, module, found);
  Capability& can = found.capabilities.read_energy_counter;
  can = Capability::yes();
  for (const FieldId id : {kCounter, kCounterOfGpu})
    if (answers.has(id)) return found.fast.push_back({id, gpu});
  const auto total = calls.number(calls.nvml().energy);
  found.counter_by_call = total.ok();
  can = probe_detail::readable(total.code, calls.nvml().energy.name());
}

}  // namespace

void probe_detail::probe_power(DeviceCalls& calls, Probed& found) {
  const Answers answers(calls);
  Capabilities& can = found.capabilities;
  const Put module = [](FastReading& r, double mw) { r.module_power = from_milliwatts(mw); };
  const Put memory = [](FastReading& r, double mw) { r.memory_power = from_milliwatts(mw); };
  can.read_module_power = take_power_of(abi::kScopeModule, "module power", module, answers, found);
  can.read_memory_power = take_power_of(abi::kScopeMemory, "memory power", memory, answers, found);
  take_gpu_power(calls, answers, found);
  take_counter(calls, answers, found);
}

}  // namespace rubato::device::nvml
