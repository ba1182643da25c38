// The readings themselves, at their own times: for periods of a few readings only, which a grid would blur.
#pragma once

#include <cstddef>
#include <vector>

#include "progress/period/likeness.h"
#include "progress/period/samples.h"
#include "progress/period/series.h"

namespace rubato::progress {

/// One column's readings that brought a new value, each at the time it was first seen.
struct Events {
  std::vector<double> at_s;
  std::vector<double> value;
};

/// All that a look finds of them, slow change included: the same for every width.
struct Fresh {
  std::vector<Events> columns;                // by their factors
  std::vector<std::vector<std::size_t>> bin;  // of the grid, that each reading falls into
};

/// Of the columns of `readings`, over its stretch of time. At most `most` readings per column, the latest.
[[nodiscard]] Fresh fresh_readings(const Samples& samples, const Series& readings,
                                   const std::vector<double>& factors, std::size_t most);

/// Less the moving average of `readings`, which the factors have been applied to, over `width_s`.
[[nodiscard]] std::vector<Events> events_of(const Fresh& fresh, const Series& readings, double width_s);

/// What readings a whole number of periods apart have in common.
struct EventLikeness {
  std::vector<Stretch> stretches;
  double best = 0;       // over all stretches, each reading with its best partner
  double odd = 0;        // partners an odd number of periods away only; 0 where there are none
  double not_third = 0;  // partners a number of periods away that three does not divide
};

/// As likeness() over a series, but only readings are compared that lie a whole number of periods apart
/// within `tolerance_s`: each with the nearest such, up to eight later. What falls between the
/// readings is passed over, so a period that is no whole number of readings is not at a disadvantage.
[[nodiscard]] EventLikeness likeness(const std::vector<Events>& columns, double window_s, double period_s,
                                     double tolerance_s);

}  // namespace rubato::progress
