#include "cli/learnable.h"

#include <algorithm>
#include <map>
#include <string>

#include "core/feature_schema.h"

namespace rubato::cli {
namespace {

bool disturbed(const record::RunRecord& run) {
  return record::someone_else_set(run) ||
         std::ranges::any_of(run.decisions, [](const auto& d) { return d.action == "measure_only"; });
}

/// The job ended well, and what was chosen was in force by then; looks at the baseline do not count.
bool ended_in_hold(const record::RunRecord& run) {
  if (!run.end || run.end->exit_code != 0) return false;
  const record::Block* last = nullptr;
  for (const record::Block& b : run.blocks)
    if (b.role != BlockRole::warmup && b.role != BlockRole::control &&
        (last == nullptr || b.begin > last->begin))
      last = &b;
  return last != nullptr && last->role == BlockRole::hold;
}

/// Held longest, with what it cost; nothing where no other setting than the found one was.
const analyse::SettingSummary* held_longest(const analyse::Summary& summary) {
  const analyse::SettingSummary* out = nullptr;
  for (const analyse::SettingSummary& s : summary.settings)
    if (s.role == BlockRole::hold && !s.setting.empty() && s.iteration_time && s.energy_per_iteration &&
        (out == nullptr || s.iterations > out->iterations))
      out = &s;
  return out;
}

struct Found {
  Seconds time;  // per iteration
  Joules energy;
};

std::optional<Found> as_found(const analyse::Summary& summary) {
  Found sum;
  std::int64_t iterations = 0;
  for (const analyse::SettingSummary& s : summary.settings) {
    if ((s.role != BlockRole::baseline && s.role != BlockRole::control) || !s.energy) continue;
    sum.time += s.time;
    sum.energy += *s.energy;
    iterations += s.iterations;
  }
  if (iterations == 0) return std::nullopt;
  const auto n = static_cast<double>(iterations);
  return Found{sum.time / n, sum.energy / n};
}

std::map<std::string, double> latest_features(const record::RunRecord& run) {
  std::map<std::string, double> out;
  for (const record::FeatureWindow& window : run.features) {
    if (!window.setting.empty()) continue;
    for (std::size_t f = 0; f < kFeatureCount; ++f)
      if (const auto value = window.features.values[f]) out[std::string(kFeatureNames[f])] = *value;
  }
  return out;
}

}  // namespace

std::optional<record::LearnedSetting> learnable(const record::RunRecord& run,
                                                const analyse::Summary& summary) {
  if (!summary.savings || disturbed(run) || !ended_in_hold(run)) return std::nullopt;
  const auto& interval = summary.savings->energy_per_iteration.interval;
  const analyse::SettingSummary* held = held_longest(summary);
  const auto found = as_found(summary);
  if (held == nullptr || !found || !interval || interval->low <= 0) return std::nullopt;
  return record::LearnedSetting{.setting = held->setting,
                                .time_ratio = *held->iteration_time / found->time,
                                .energy_ratio = *held->energy_per_iteration / found->energy,
                                .features = latest_features(run),
                                .learned_on = run.info.started_at.substr(0, 10),
                                .run_id = run.info.run_id};
}

}  // namespace rubato::cli
