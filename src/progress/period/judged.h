// What one candidate for the period is worth, looked at stretch by stretch: how alike, how sharp, and whether
// the readings can show it at all.
#pragma once

#include <vector>

#include "progress/period/events.h"
#include "progress/period/lag_profile.h"
#include "progress/period/likeness.h"

namespace rubato::progress {

/// The stretch of the trace looked at, and how finely its values are known.
struct Span {
  double begin_s = 0;
  double end_s = 0;
  double reading_s = 0;  // distance of two readings
  double update_s = 0;   // distance of two values that can differ: the sensor's hold or the reading
  double window_s = 0;   // that a value is the mean over; 0: not known
};

[[nodiscard]] Span span_of(const Samples& samples, const TelemetryFacts& facts, double begin_s, double end_s);

struct Judged {
  Candidate candidate;
  const Band* band = nullptr;
  Likeness likeness;      // one period later
  double sharpness = 1;   // likeness of the edges alone, for periods long enough to be a fan's
  bool supported = true;  // false: only its double, or its triple, can be seen in the readings
};

inline constexpr double kFine = 16;        // updates in a period, from which on a grid serves
inline constexpr double kDetail = 12;      // parts of a period that are told apart
inline constexpr double kTolerance = 0.1;  // of a period, for readings to count as whole periods apart
inline constexpr double kSharp = 0.5;      // likeness the edges must have
inline constexpr std::size_t kEvents = 700;

/// Length of the stretches compared, for a period.
[[nodiscard]] double window_for(double period_s, const Span& span);

[[nodiscard]] Judged judge(const Candidate& candidate, const Band& band, const Span& span);

/// All candidates of the bands, by length; a swell and its multiples have lost their sharpness.
[[nodiscard]] std::vector<Judged> judge_all(const std::vector<Band>& bands, const Span& span);

/// The shortest of those that qualify; of several that are the same within some percent, the best. Null: none
/// does.
[[nodiscard]] const Judged* shortest_that_qualifies(const std::vector<Judged>& sorted);

/// Whether what repeats is beyond what chance, or work of random length, shows in as many stretches.
[[nodiscard]] bool qualifies(const Judged& judged);

}  // namespace rubato::progress
