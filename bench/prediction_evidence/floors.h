// What one default run tells of a workload at all.
#pragma once

#include <optional>
#include <span>

#include "predict/curve.h"

namespace rubato::prediction_evidence {

/// Predicting, and choosing, by the workloads whose defaults are most alike (log power and counters); how
/// near they have to be, and whether rows are a local constant or local linear in the default's power (least
/// absolute errors), is chosen in hindsight, for each figure by itself. Choices: the setting that saved them
/// most, a broken bound counting as nothing. Fractions.
struct Neighbours {
  double time = 0;
  double energy = 0;
  double regret = 0;
  double captured = 0;
};
/// The neighbours are those of `train`; where it is empty, of the same table without the workload itself, and
/// without its group unless `own_group_too`. Nothing for fewer than three workloads or where they were not
/// measured at the same settings.
[[nodiscard]] std::optional<Neighbours> neighbours(std::span<const predict::Curve> curves,
                                                   std::span<const predict::Curve> train, bool own_group_too,
                                                   double max_slowdown);

}  // namespace rubato::prediction_evidence
