// How alike the trace is to itself some time later, over all lags, and which lags stand out: the candidates
// for the period.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "progress/period/events.h"
#include "progress/period/series.h"

namespace rubato::progress {

struct LagProfile {
  double step_s = 0;
  double update_s = 0;              // of the sensor: no summit is placed better than to some part of it
  std::size_t size = 0;             // values the correlations come from
  std::vector<double> correlation;  // at lag 0, 1, ...; all columns together, by their evidence
};

struct Candidate {
  double period_s = 0;
  double step_s = 0;  // grid it was found on
};

/// Some octaves of periods, on one grid; columns are scaled to count by their evidence.
struct Band {
  double shortest_s = 0;
  double longest_s = 0;
  Series readings;
  std::vector<double> factors;  // what each column was multiplied by
  LagProfile profile;
  std::vector<LagProfile> by_column;  // the same of each column alone
  std::vector<double> shares;         // of each column in the profile; they sum to 1
  std::vector<Candidate> candidates;
  Fresh fresh;  // the readings themselves, where periods are short enough to ask them
};

/// Of all columns together, each with the share of the variance it has in the series.
[[nodiscard]] LagProfile profile_of(const Series& series, double update_s);

/// Value between grid points, by a parabola.
[[nodiscard]] double value_at(const LagProfile& profile, double lag_s);

/// The highest point within +- `share` of the lag, between grid points; absent where the profile has no
/// summit there.
[[nodiscard]] std::optional<double> summit_near(const LagProfile& profile, double lag_s, double share);

/// A period as its multiples show it: each summit found places the next one more exactly.
[[nodiscard]] double refined_period(const LagProfile& profile, double period_s);

/// Some octaves of periods, looked at on a grid as coarse as they allow.
[[nodiscard]] Band search_band(Series readings, double update_s, double shortest_s, double longest_s);

}  // namespace rubato::progress
