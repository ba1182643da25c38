// Which changes `rubato latency` would time on a GPU.
#include <algorithm>

#include "base/text.h"
#include "cli/latency_conductor.h"
#include "experiment/latency/pairs.h"

namespace rubato::cli {
namespace {

constexpr unsigned kMostPairs = 1000;

Error cannot_lock(const device::Gpu& gpu, std::string_view what, const Capability& why) {
  return {
      ErrorCode::not_supported,
      cat(gpu.identity().id.uuid, " (", gpu.identity().name, ") cannot lock its ", what, ": ", why.why_not),
      why.hint};
}

}  // namespace

Result<LatencyTarget> latency_target(device::Gpu& gpu, bool memory_clocks) {
  const Capabilities& can = gpu.capabilities();
  const auto could = [](const Capability& c) { return c.available || c.needs_right; };
  if (!could(can.set_sm_clock)) return fail(cannot_lock(gpu, "SM clock", can.set_sm_clock));
  if (memory_clocks && !could(can.set_memory_clock))
    return fail(cannot_lock(gpu, "memory clock", can.set_memory_clock));
  auto table = gpu.supported_clocks();
  if (!table) return fail(table.error());
  if (table->sm.size() < 2 || table->pairs.empty())
    return fail(ErrorCode::not_supported, cat(gpu.identity().id.uuid, ": ", table->sm.size(),
                                              " SM clocks are known, and 2 are needed"));
  LatencyTarget out{.table = std::move(*table), .at = {}, .memory = {}};
  out.at.memory = out.table.memory.back();
  out.at.sm = out.table.sm[out.table.sm.size() / 2];
  if (!memory_clocks) return out;
  for (const device::LegalClocks& pair : out.table.pairs)
    if (std::find(pair.sm.begin(), pair.sm.end(), out.at.sm) != pair.sm.end())
      out.memory.push_back(pair.memory);
  if (out.memory.size() < 2)
    return fail(ErrorCode::not_supported,
                cat(gpu.identity().id.uuid, ": ", out.memory.size(), " memory clocks go with an SM clock of ",
                    out.at.sm, ", and 2 are needed"));
  return out;
}

Result<experiment::StudyPlan> study_plan(const LatencyOptions& options, const LatencyTarget& target,
                                         Megahertz highest, const SensorFacts& sensor) {
  experiment::StudyPlan plan;
  plan.repeats = options.repeats;
  plan.memory_clock = options.memory_clocks;
  plan.power_period = sensor.update_period;
  plan.power_window = sensor.averaging_window;
  const auto& sm = target.table.sm;
  plan.sm_step = sm[1] - sm[0];
  for (std::size_t i = 2; i < sm.size(); ++i) plan.sm_step = std::max(plan.sm_step, sm[i] - sm[i - 1]);
  const auto count = options.pairs.empty() ? std::optional<std::int64_t>(experiment::kUsualPairs)
                                           : parse_integer(options.pairs);
  if (count && (*count < 1 || *count > kMostPairs))
    return fail(ErrorCode::invalid_argument, cat("--pairs ", *count, ": 1 to ", kMostPairs, " are possible"),
                "--pairs 12");
  if (count) {
    plan.pairs = experiment::usual_pairs(sm, highest, target.at.memory, static_cast<unsigned>(*count));
  } else {
    auto pairs = experiment::parse_pairs(options.pairs, sm, target.at.memory);
    if (!pairs) return fail(pairs.error());
    plan.pairs = std::move(*pairs);
  }
  for (const auto& pair : experiment::memory_pairs(target.memory, target.at.sm)) plan.pairs.push_back(pair);
  if (plan.pairs.empty())
    return fail(ErrorCode::unavailable,
                cat("the load holds the SM clock at ", highest, ", too low for a change to be timed"),
                "a lighter load: --load latency");
  return plan;
}

}  // namespace rubato::cli
