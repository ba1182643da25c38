
#include <utility>

#include "cli/json_values.h"
#include "cli/lab_report.h"

namespace rubato::cli {
namespace {

using lab::Row;
using lab::Score;
using lab::StrategyOutcome;
using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

constexpr const char* kNothingToSave = "the oracle saves nothing";
constexpr const char* kTooShort = "no run lasted that long";
constexpr const char* kNeverHeld = "it never held a setting";

Value row_json(const Row& row, const std::vector<lab::Job>& jobs) {
  const lab::Replayed& run = row.run;
  Value settled = Missing{kNeverHeld};
  if (run.settled_after) settled = *run.settled_after;
  return Object{{"workload", jobs[row.job].name},
                {"group", jobs[row.job].group},
                {"seed", row.seed},
                {"saving", fraction(run.saving)},
                {"slowdown", fraction(run.slowdown)},
                {"fixed_oracle_saving", fraction(row.oracles.fixed.saving)},
                {"fixed_oracle_slowdown", fraction(row.oracles.fixed.slowdown)},
                {"mixed_oracle_saving", fraction(row.oracles.mixed.saving)},
                {"worst_running_slowdown_after_300_s", fraction(run.worst_running_slowdown, kTooShort)},
                {"settings_tried", run.settings_tried},
                {"settings_rechecked", run.settings_rechecked},
                {"changes", run.changes},
                {"settled_after_iterations", std::move(settled)}};
}

Object outcome_json(const StrategyOutcome& outcome, const LabReport& lab, bool every_workload) {
  Array needs;
  for (const std::string& need : outcome.needs) needs.emplace_back(need);
  Object out{{"name", outcome.name}, {"applicable", outcome.applicable}, {"needs", std::move(needs)}};
  if (!outcome.applicable) return out;
  const Score& s = outcome.score;
  out.set("workloads", lab.jobs.size());
  out.set("runs", outcome.rows.size());
  out.set("saving_mean", fraction(s.saving));
  out.set("fixed_oracle_saving_mean", fraction(s.fixed_oracle_saving));
  out.set("mixed_oracle_saving_mean", fraction(s.mixed_oracle_saving));
  out.set("captured", fraction(s.captured, kNothingToSave));
  out.set("captured_of_mixed", fraction(s.captured_of_mixed, kNothingToSave));
  out.set("slowdown_mean", fraction(s.slowdown));
  out.set("slowdown_max", fraction(s.slowdown_max));
  out.set("worst_running_slowdown_after_300_s", fraction(s.worst_running_slowdown, kTooShort));
  out.set("bound_violations", s.bound_violations);
  out.set("excess_mean", fraction(s.excess));
  out.set("settings_tried_mean", fraction(s.settings_tried));
  out.set("settings_rechecked_mean", fraction(s.settings_rechecked));
  out.set("changes_mean", fraction(s.changes));
  out.set("settled", s.settled);
  out.set("settled_after_iterations_mean", fraction(s.settled_after, kNeverHeld));
  if (!every_workload) return out;
  Array rows;
  for (const Row& row : outcome.rows) rows.emplace_back(row_json(row, lab.jobs));
  out.set("rows", std::move(rows));
  return out;
}

Object gain_json(const lab::CorrectedGain& gain) {
  return {{"apparent", fraction(gain.apparent)},
          {"corrected", fraction(gain.corrected)},
          {"standard_error", fraction(gain.standard_error)},
          {"noise_share", fraction(gain.noise_share(), "nothing seemed to be gained")},
          {"distinguishable", gain.distinguishable()}};
}

Object correction_json(const LabCorrection& correction) {
  Array resolutions;
  for (const auto& [name, one] :
       {std::pair{"table", &correction.table}, std::pair{"hardware", &correction.hardware}})
    resolutions.emplace_back(Object{{"resolution", name},
                                    {"fixed_saving", gain_json(one->fixed)},
                                    {"sharing_gain", gain_json(one->sharing)}});
  return {{"bootstrap_tables", lab::kBootstrapTables},
          {"row_noise", Object{{"time", fraction(correction.table.time_noise)},
                               {"power", fraction(correction.table.power_noise)}}},
          {"resolutions", std::move(resolutions)}};
}

}  // namespace

std::string_view name_of(lab::Resolution resolution) {
  return resolution == lab::Resolution::hardware ? "hardware" : "table";
}

std::string_view name_of(lab::TruthKind truth) {
  return truth == lab::TruthKind::denoised ? "denoised" : "raw";
}

Object lab_json(const LabReport& lab, bool every_workload) {
  Object out{{"schema", "rubato.lab/1"}};
  if (lab.table.empty()) {
    out.set("suite", lab.suite);
  } else {
    out.set("table", lab.table);
    out.set("resolution", name_of(lab.truth.resolution));
    out.set("truth", name_of(lab.truth.truth));
    out.set("default_assumed", lab.default_assumed);
  }
  Array knobs;
  for (const plan::KnobAxis& axis : lab.jobs.front().space.axes)
    knobs.emplace_back(rubato::name_of(axis.knob));
  out.set("knobs", std::move(knobs));
  out.set("kind", rubato::name_of(lab.jobs.front().kind));
  out.set("max_slowdown", fraction(lab.options.goal.max_slowdown));
  out.set("iterations", lab.options.iterations);
  if (lab.table.empty() && !lab.iteration_asked) {
    out.set("iteration_s", Missing{"each job of a suite has its own"});
  } else {
    out.set("iteration_s", Amount{lab.truth.iteration.value(), "s"});
  }
  out.set("noise", Object{{"model", lab::name_of(lab.options.noise.model)},
                          {"level", fraction(lab.options.noise.level)}});
  out.set("seed", lab.options.seed);
  out.set("seeds", lab.options.seeds);
  out.set("host_watts", Amount{lab.options.goal.host_watts.value_or(Watts(0)).value(), "W"});
  if (const auto& second = lab.options.goal.second) out.set("second_watts", Amount{second->value(), "W"});
  if (!lab.train.empty()) out.set("train", lab.train);
  out.set("workloads", lab.jobs.size());
  if (lab.correction) out.set("correction", correction_json(*lab.correction));
  Array strategies;
  for (const StrategyOutcome& outcome : lab.outcomes)
    strategies.emplace_back(outcome_json(outcome, lab, every_workload));
  out.set("strategies", std::move(strategies));
  return out;
}

}  // namespace rubato::cli
