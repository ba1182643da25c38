// By how much the model's intervals must grow so that they hold 90 % of what groups it left out turned out to
// be.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "predict/physical/learned.h"

namespace rubato::predict::physical {

/// A training workload as one that was never seen.
struct LeftOut {
  const Measured* measured;
  Parameters expected;  // without its group
  double noise;         // expected of it, over the table's
  double weight;        // in the quantile
  std::size_t at_default;
};

/// For 0, 1 and 2 probes (chosen for the most they explain): factors for time and energy.
[[nodiscard]] std::vector<std::array<double, 2>> widening_of(const Learned& learned,
                                                             const std::vector<LeftOut>& workloads);

/// Relative deviations of one row's time and energy.
[[nodiscard]] std::array<double, 2> row_noise(const Learned& learned, double noise);

}  // namespace rubato::predict::physical
