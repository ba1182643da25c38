// How much of a gain that a table of single measurements shows is noise: whoever picks the best of noisy rows
// picks lucky ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lab/row_grid.h"

namespace rubato::lab {

/// Means over workloads, as fractions of the energy at the found setting.
struct CorrectedGain {
  double apparent = 0;   // with the rows as they stand
  double corrected = 0;  // chosen on noisy tables, valued on the clean one they were made from
  double standard_error = 0;

  [[nodiscard]] bool distinguishable() const { return corrected > 2 * standard_error; }
  /// Nothing where nothing seemed to be gained.
  [[nodiscard]] std::optional<double> noise_share() const {
    if (!(apparent > 0)) return std::nullopt;
    return 1 - corrected / apparent;
  }
};

struct Correction {
  double time_noise = 0;  // relative standard deviation of one row, from the rows' distance to the fit
  double power_noise = 0;
  CorrectedGain fixed;    // the best fixed setting inside the bound, over the found one
  CorrectedGain sharing;  // the best share of two settings, over the best fixed one
};

inline constexpr int kBootstrapTables = 200;

/// The clean table is the monotone fit; noisy ones are it with noise drawn anew from what the rows showed.
/// What was chosen on a noisy one and breaks the bound on the clean one is shared with the found setting
/// until it does not. The boards alone count. At least one workload.
[[nodiscard]] Correction corrected(std::span<const RowGrid> workloads, double max_slowdown,
                                   std::uint64_t seed, int tables = kBootstrapTables);

}  // namespace rubato::lab
