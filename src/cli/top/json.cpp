#include "cli/top/json.h"

#include <nlohmann/json.hpp>

namespace rubato::cli::top {
namespace {

using nlohmann::ordered_json;
using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

constexpr const char* kNotRead = "not read";

template <class Q>
Value figure(const std::optional<Q>& value, const char* unit) {
  if (!value) return Missing{kNotRead};
  return Amount{value->value(), unit};
}

Value fraction(const std::optional<double>& value) {
  if (!value) return Missing{kNotRead};
  return Amount{*value, "", 2};
}

Value limiter_json(const std::optional<LimiterReasons>& reasons) {
  if (!reasons) return Missing{kNotRead};
  Array out;
  const auto add = [&out](bool set, const char* name) {
    if (set) out.emplace_back(name);
  };
  add(reasons->power_cap, "power_cap");
  add(reasons->thermal, "thermal");
  add(reasons->hardware, "hardware");
  add(reasons->user_clocks, "user_clocks");
  add(reasons->other, "other");
  add(reasons->idle, "idle");
  return out;
}

Value managed_json(const std::optional<ManagedNow>& managed) {
  if (!managed) return Missing{"no rubatod that answers manages it"};
  return Object{{"mode", managed->mode},
                {"state", managed->state},
                {"slurm_job", managed->slurm_job ? Value(*managed->slurm_job) : Value(Missing{"none"})}};
}

Value gpu_json(const GpuState& gpu) {
  const SlowReading& slow = gpu.slow;
  return Object{{"uuid", gpu.identity.id.uuid},
                {"name", gpu.identity.name},
                {"index", gpu.identity.index},
                {"kind", name_of(gpu.kind)},
                {"power_w", figure(gpu.power, "W")},
                {"power_limit_requested_w", figure(slow.requested_limit, "W")},
                {"power_limit_enforced_w", figure(slow.enforced_limit, "W")},
                {"sm_clock_mhz", figure(slow.sm_clock, "MHz")},
                {"memory_clock_mhz", figure(slow.memory_clock, "MHz")},
                {"sm_utilisation", fraction(slow.sm_utilisation)},
                {"memory_utilisation", fraction(slow.memory_utilisation)},
                {"temperature_c", figure(slow.temperature, "C")},
                {"limiter", limiter_json(slow.limiter)},
                {"performance_state",
                 slow.performance_state ? Value(*slow.performance_state) : Value(Missing{kNotRead})},
                {"rubatod", managed_json(gpu.managed)},
                {"no_answer", gpu.silent.empty() ? Value(Missing{"it answers"}) : Value(gpu.silent)}};
}

Value value_of(const ordered_json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return Amount{json.get<double>(), ""};
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    Array out;
    for (const ordered_json& item : json) out.push_back(value_of(item));
    return out;
  }
  if (!json.is_object()) return Missing{};
  Object out;
  for (const auto& [key, item] : json.items()) out.set(key, value_of(item));
  return out;
}

Value run_json(const RunNow& run) {
  Value out = value_of(ordered_json::parse(record::write_run_state(run.state)));
  Object with_age = *out.as<Object>();
  with_age.set("age_s", Amount{run.age.value(), "s"});
  return with_age;
}

Value process_json(const ProcessState& process, const State& state) {
  Array gpus;
  for (const std::size_t gpu : process.gpus) gpus.emplace_back(state.gpus[gpu].identity.id.uuid);
  return Object{
      {"pid", process.pid},
      {"user", process.user},
      {"command", process.command.empty() ? Value(Missing{"not seen from here"}) : Value(process.command)},
      {"gpus", std::move(gpus)},
      {"memory_bytes", process.memory_bytes ? Value(*process.memory_bytes) : Value(Missing{kNotRead})},
      {"run_id", process.run_id.empty() ? Value(Missing{"of no run"}) : Value(process.run_id)}};
}

}  // namespace

report::Value top_json(const State& state) {
  Array gpus;
  for (const GpuState& gpu : state.gpus) gpus.push_back(gpu_json(gpu));
  Array runs;
  for (const RunNow& run : state.runs) runs.push_back(run_json(run));
  Array processes;
  for (const ProcessState& process : state.processes) processes.push_back(process_json(process, state));
  return Object{{"schema", "rubato.top/1"},
                {"at", state.at},
                {"host", state.host},
                {"backend", state.backend},
                {"clock_rate", Amount{state.clock_rate, ""}},
                {"gpus", std::move(gpus)},
                {"runs", std::move(runs)},
                {"processes", std::move(processes)},
                {"own_cost", Object{{"wall_s", Amount{state.own.wall.value(), "s"}},
                                    {"cpu_s", Amount{state.own.cpu.value(), "s"}},
                                    {"driver_calls", state.own.driver.calls},
                                    {"driver_s", Amount{state.own.driver.inside.value(), "s"}}}}};
}

}  // namespace rubato::cli::top
