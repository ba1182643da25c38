// How well a model predicts workloads it has never seen: leaving one group of a table out, or learning from
// another table. What the figures mean is docs/formats.md#rubatovalidate1.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "plan/choice.h"
#include "predict/model.h"

namespace rubato::experiment {

struct ValidationOptions {
  const predict::Learner* learner = nullptr;
  std::vector<Knob> knobs;
  std::size_t probes = 0;  // settings of the model's own choice that are measured besides the default
  double max_slowdown = 0.05;
  Watts host_watts{0};  // counts in regret and savings, not in the errors
  /// A choice counts the noise of the one row by which it is judged. Without: as for a run that lasts, which
  /// is how `rubato advise` chooses.
  bool row_noise = true;
  plan::Caution caution{};  // of the choice inside the bound
  unsigned threads = 2;
  /// After each group that was held out, by one thread at a time.
  std::function<void(std::size_t done, std::size_t all)> progress{};
};

/// A setting that a held-out workload has in the table; everything over its default.
struct JudgedRow {
  predict::KnobPoint at;
  bool probed = false;  // measured, so not judged
  double time = 1;
  double energy = 1;
  double predicted_time = 1;
  double predicted_energy = 1;
  bool time_inside = false;  // of its 90 % interval
  bool energy_inside = false;
};

struct JudgedWorkload {
  std::string gpu;
  std::string workload;
  std::string group;
  bool default_assumed = false;
  std::vector<JudgedRow> rows;  // without the default
  double energy_regret = 0;     // of the choice without a bound
  double edp_regret = 0;
  std::optional<predict::KnobPoint> chosen;  // inside the bound; nothing: the default stays
  double holds = 1;                          // the probability that the bound holds there, as it was believed
  double slowdown = 0;                       // there
  double saving = 0;                         // there; zero where it breaks the bound
  double oracle_saving = 0;                  // of the best row inside the bound
};

/// Fractions; absent where there was nothing to take a mean of.
struct Errors {
  std::optional<double> time;
  std::optional<double> energy;
  std::optional<double> edp;
};

struct Validation {
  std::size_t groups = 0;
  std::size_t workloads = 0;
  std::size_t workloads_distinct = 0;
  Errors errors;  // mean absolute, over rows that are neither default nor probed
  double energy_regret = 0;
  double edp_regret = 0;
  struct Coverage {
    std::optional<double> both;  // of time and energy together
    std::optional<double> time;
    std::optional<double> energy;
  } coverage;  // of 90 % intervals, over the same rows
  struct AtBound {
    double saving = 0;
    double oracle_saving = 0;
    std::optional<double> captured;
    double worst_slowdown = 0;
  } at_bound;
  std::vector<JudgedWorkload> judged;  // in the table's order
};

/// `table` held out group by group; or, where `train` is given, all of it, with everything learnt from there.
/// invalid_argument: fewer than two groups and nothing to learn from besides, or what the learner refuses.
[[nodiscard]] Result<Validation> validate(std::span<const predict::Curve> table, std::size_t workloads,
                                          const ValidationOptions& options,
                                          std::span<const predict::Curve> train = {});

/// The figures of what was judged: groups and workloads are the caller's.
void summarise(Validation& validation);

}  // namespace rubato::experiment
