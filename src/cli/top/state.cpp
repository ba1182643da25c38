#include "cli/top/state.h"

#include <algorithm>

#include "base/text.h"
#include "core/block_role.h"

namespace rubato::cli::top {

std::string limited_by(const SlowReading& reading) {
  if (!reading.limiter) return "-";
  const LimiterReasons& by = *reading.limiter;
  std::string out;
  const auto add = [&out](bool set, std::string_view what) {
    if (set) out += cat(out.empty() ? "" : ", ", what);
  };
  add(by.power_cap, "power limit");
  add(by.thermal, "heat");
  add(by.hardware, "hardware");
  add(by.user_clocks, "locked clock");
  add(by.other, "other");
  add(by.idle, "idle");
  return out.empty() ? "nothing" : out;
}

std::optional<Watts> total_power(const State& state) {
  std::optional<Watts> sum;
  for (const GpuState& gpu : state.gpus)
    if (gpu.power) sum = sum.value_or(Watts(0)) + *gpu.power;
  return sum;
}

std::string gpus_of(const record::RunState& run, const State& state) {
  std::string out;
  for (const GpuState& gpu : state.gpus) {
    const auto of_run = std::find_if(run.gpus.begin(), run.gpus.end(), [&](const record::RunStateGpu& one) {
      return one.uuid == gpu.identity.id.uuid && one.used_by_job.value_or(true);
    });
    if (of_run != run.gpus.end()) out += cat(out.empty() ? "" : ",", gpu.identity.index);
  }
  return out.empty() ? "-" : out;
}

std::string doing(const record::RunState& run) {
  const std::string at = run.setting.empty() ? "the found setting" : describe(run.setting);
  const auto role = parse_block_role(run.doing);
  if (!role) return run.doing == "measure_only" ? "measuring only" : "starting";
  switch (*role) {
    case BlockRole::warmup:
      return "warming up";
    case BlockRole::baseline:
      return "measuring the found setting";
    case BlockRole::trial:
      return cat("trying ", at);
    case BlockRole::hold:
      return cat("holding ", at);
    case BlockRole::control:
      return "checking the found setting";
  }
  return "starting";
}

std::string short_name(const std::vector<std::string>& command) {
  const auto last_part = [](const std::string& path) {
    const auto slash = path.find_last_of('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
  };
  for (const std::string& word : command)
    if (word.ends_with(".py") || word.ends_with(".sh")) return last_part(word);
  std::string out;
  for (const std::string& word : command) out += out.empty() ? last_part(word) : cat(" ", word);
  return out;
}

}  // namespace rubato::cli::top
