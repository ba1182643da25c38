#include "experiment/calibrate/point.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "core/feature_schema.h"
#include "experiment/sweep_grid.h"
#include "experiment/sweep_in_force.h"

namespace rubato::experiment {
namespace {

bool tells(const record::Block& block, bool at_found) {
  const bool found = block.role == BlockRole::baseline || block.role == BlockRole::control;
  const bool held = block.role == BlockRole::hold;
  return (at_found ? found : held) && block.iterations > 0 && block.energy.has_value();
}

std::optional<UnitCost> cost_of(const record::RunRecord& run, bool at_found) {
  UnitCost sum;
  for (const record::Block& block : run.blocks) {
    if (!tells(block, at_found)) continue;
    sum.time += block.end - block.begin;
    sum.energy += block.energy->energy;
    sum.units += block.iterations;
  }
  if (sum.units == 0) return std::nullopt;
  const auto units = static_cast<double>(sum.units);
  return UnitCost{sum.time / units, sum.energy / units, sum.units};
}

/// Of time for each unit over the stretches at one setting; 0 where there are fewer than two.
double scatter_of(const record::RunRecord& run, bool at_found) {
  std::vector<double> each;
  for (const record::Block& block : run.blocks)
    if (tells(block, at_found))
      each.push_back((block.end - block.begin).value() / static_cast<double>(block.iterations));
  if (each.size() < 2) return 0;
  const double mean = std::accumulate(each.begin(), each.end(), 0.0) / static_cast<double>(each.size());
  double squares = 0;
  for (const double x : each) squares += (x - mean) * (x - mean);
  return std::sqrt(squares / static_cast<double>(each.size() - 1)) / mean;
}

/// Half width of what the energy at one setting may be off by for how it was sampled, as a fraction.
double band_of(const record::RunRecord& run, bool at_found) {
  double energy = 0;
  double squares = 0;
  for (const record::Block& block : run.blocks) {
    if (!tells(block, at_found)) continue;
    energy += block.energy->energy.value();
    squares += std::pow(block.energy->band_sampling.value(), 2);
  }
  return energy > 0 ? std::sqrt(squares) / energy : 0;
}

std::string disturbance_of(const record::RunRecord& run) {
  const std::string_view busy = run.info.clock_rate > 1 ? "; is this machine busy with something else?" : "";
  if (const double scatter = std::max(scatter_of(run, true), scatter_of(run, false)); scatter > kSteady)
    return cat("disturbed: the same unit of work scattered by ", number(scatter * 100, 1), " %", busy);
  if (const double band = std::max(band_of(run, true), band_of(run, false)); band > kKnownEnergy)
    return cat("its energy is known to ", number(band * 100, 1), " % only, as readings are missing", busy);
  return {};
}

/// Of the windows in which nothing was set.
std::map<std::string, double> features_of(const record::RunRecord& run) {
  std::map<std::string, std::pair<double, unsigned>> sums;
  for (const record::FeatureWindow& window : run.features) {
    if (!window.setting.empty()) continue;
    for (std::size_t i = 0; i < kFeatureCount; ++i) {
      if (!window.features.values[i]) continue;
      auto& [sum, count] = sums[std::string(kFeatureNames[i])];
      sum += *window.features.values[i];
      ++count;
    }
  }
  std::map<std::string, double> out;
  for (const auto& [name, mean] : sums) out.emplace(name, mean.first / mean.second);
  return out;
}

std::string last_reason(const record::RunRecord& run) {
  return run.decisions.empty() ? std::string("the run ended too early") : run.decisions.back().why;
}

void judge(const record::RunRecord& run, CalibrationPoint& point) {
  std::optional<TimePoint> begin;
  TimePoint end;
  for (const record::Block& block : run.blocks) {
    if (!tells(block, false)) continue;
    if (!begin) begin = block.begin;
    end = block.end;
  }
  if (!begin) {
    point.not_used = cat("never held: ", last_reason(run));
    return;
  }
  const InForce seen = judge_readings(loaded_readings(run.devices.front(), *begin, end), point.at);
  point.reached = seen.reached;
  point.notes = seen.notes;
  if (seen.objection) {
    point.not_used = *seen.objection;
    return;
  }
  point.at_setting = cost_of(run, false);
}

}  // namespace

Result<CalibrationPoint> point_of(const record::RunRecord& run, std::string benchmark,
                                  const predict::KnobPoint& at) {
  if (run.devices.empty()) return fail(ErrorCode::unavailable, "no GPU was measured", "rubato doctor");
  const auto at_default = cost_of(run, true);
  if (!at_default)
    return fail(ErrorCode::unavailable,
                cat(benchmark, " told nothing at the found setting: ", last_reason(run)),
                cat("rubato show ", run.info.run_id));
  CalibrationPoint out;
  out.benchmark = std::move(benchmark);
  out.at = at;
  out.at_default = *at_default;
  out.features = features_of(run);
  out.kind = run.devices.front().info.kind;
  out.run_id = run.info.run_id;
  if (at != predict::KnobPoint{}) judge(run, out);
  out.disturbed = disturbance_of(run);
  if (!out.disturbed.empty()) {
    out.at_setting.reset();
    out.not_used = out.disturbed;
  }
  return out;
}

}  // namespace rubato::experiment
