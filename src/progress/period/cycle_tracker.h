// Follows the iterations one by one once their period is known: where each begins, which were held up, and
// where the trace stopped looking like this iteration.
#pragma once

#include <optional>
#include <vector>

#include "progress/period/series.h"

namespace rubato::progress {

/// From one mark to the next, at the same place of the cycle.
struct Cycle {
  double begin_s = 0;
  double end_s = 0;
  [[nodiscard]] double length_s() const { return end_s - begin_s; }
};

inline constexpr double kJoinedSeconds = 1e-6;  // between two cycles that follow each other, at most

struct Followed {
  std::vector<Cycle> cycles;         // undisturbed ones, in order of time
  std::vector<Cycle> late;           // held up: a stall or a pause lies inside
  double covered_s = 0;              // span of the undisturbed ones
  std::optional<double> lost_at_s;   // from here on nothing matched any more
  std::optional<double> found_at_s;  // first mark
  double alike = 0;                  // median match of the undisturbed ones with the template
};

/// `series` has its slow part taken off and its columns weighed; `period_s` is a first guess within some
/// percent; `update_s`: between two values that can differ, by which no mark is placed better; 0: not known.
[[nodiscard]] Followed follow(const Series& series, double period_s, double update_s = 0);

/// From the last of the marks on, at the same place of the cycle: the template is the mean around all marks.
[[nodiscard]] Followed follow_on(const Series& series, double period_s, const std::vector<double>& marks_s);

}  // namespace rubato::progress
