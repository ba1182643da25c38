// Whether a period found is the iteration, several like ones in a row, or a part of a longer one: readings a
// whole number of parts apart are compared, some pairs of them whole periods apart and some not. Pairs of
// both kinds count only where they meet at the same distance from the phase asked for, so that a multiple
// gains nothing from falling on the grid of the sensor.
#pragma once

#include <vector>

#include "progress/period/cycle_tracker.h"
#include "progress/period/events.h"
#include "progress/period/judged.h"

namespace rubato::progress {

/// Mean squared differences of readings n parts apart, columns added up.
struct PartPairs {
  double same = 0;       // n a multiple of the number of parts
  double cross = 0;      // n any other
  double unrelated = 0;  // of readings that have nothing to do with each other
  double shared = 0;     // pairs of the rarer kind, met at like phases
  double z = 0;          // cross less same, in its own standard errors over blocks of the trace
  // Of columns where the two kinds never meet at like phases.
  double hidden = 0;
  double hidden_same = 0;
  double hidden_cross = 0;

  /// Of what whole periods explain, what parts explain as well.
  [[nodiscard]] double explained() const;
};

/// `updates_s`: of each column, between two values that can differ. `reach`: parts looked ahead.
[[nodiscard]] PartPairs compare_parts(const std::vector<Events>& columns,
                                      const std::vector<double>& updates_s, double period_s, int parts,
                                      int reach);

/// The same, of the readings that a candidate was found in.
[[nodiscard]] PartPairs compare_parts(const Samples& samples, const Band& band, double period_s, int parts,
                                      const Span& span);

/// The iteration: the period found, a whole fraction of it, or a whole multiple.
[[nodiscard]] double settled_period(const Samples& samples, const Band& band, double period_s,
                                    const Span& span);

/// Cycles of so many iterations each, as single iterations of equal length within their cycle.
[[nodiscard]] Followed in_parts(Followed followed, int parts);

}  // namespace rubato::progress
