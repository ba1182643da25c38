// What could have been saved by somebody who knows what every setting saves and how long the run lasts, but
// may count a slowdown only as far as it was measured: the found setting long enough, and the rest of the
// run.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "govern/strategy.h"
#include "lab/cost_table.h"
#include "lab/job.h"
#include "lab/noise.h"

namespace rubato::lab {

inline constexpr std::string_view kMeasuredOracle = "oracle-measured";

/// A slowdown is vouched for so surely that one run in 10,000 is over it: the quantile of a normal.
inline constexpr double kStandardErrors = 3.719;

/// So much of the run at the found setting, and how much slower than there the rest may then be.
struct MeasuredPlan {
  std::int64_t baseline = 0;  // iterations
  double slowdown = 0;        // of the rest, fraction
};

/// The slowdown a run may have behind a baseline of so many of its iterations, where a slowdown is told from
/// two means, of the baseline's iterations and of the others': so many standard errors below the bound that
/// one run in 10,000 is over it (normal; the difference of two means is its best unbiased estimate). `noise`:
/// standard deviation of an iteration's time as observed, relative. Not below zero.
[[nodiscard]] double slowdown_vouched_for(std::int64_t baseline, std::int64_t iterations, double noise,
                                          double max_slowdown);

/// Begins with the baseline behind which it saves most, then shares the rest between two settings as
/// `oracle-phases` does. What it measures is taken to come out exactly right: only the margin is paid. Error:
/// invalid_argument for a job of several programs.
[[nodiscard]] Result<std::unique_ptr<govern::Strategy>> make_measured_oracle(
    const Job& job, const CostTable& costs, const Draw& draw, std::int64_t iterations, double noise,
    double max_slowdown, Watts host);

}  // namespace rubato::lab
