// How long the governor stays where, and what it takes for worth it.
#pragma once

#include <algorithm>
#include <cstddef>

#include "govern/stretch.h"

namespace rubato::govern::pace {

inline constexpr StretchNeeds kWarmup{2_s, 10, 8};
inline constexpr Seconds kLongestWarmup{60};
inline constexpr Seconds kPatience{30};
// A data loader that starves the GPU for a moment is not the end of the load.
inline constexpr Seconds kLoadGone{3};

// The margin to the bound rests on the baseline: it is measured to this relative error. Where the bound is
// what limits the saving it is measured once more after the search, and each time the program has run so many
// times as long.
inline constexpr StretchNeeds kBaseline{3_s, 250, 16};
inline constexpr double kBaselineError = 0.0015;
inline constexpr Seconds kLongestBaseline{120};

inline constexpr StretchNeeds kConfirm{1_s, 50, 20};
inline constexpr double kConfirmEvery = 3;

inline constexpr StretchNeeds kTrial{1_s, 50, 8};
inline constexpr std::size_t kMostTries = 3;
inline constexpr StretchNeeds kChunk{1_s, 50, 32};  // of holding, between two looks
// One part of a stretch against the other: further apart than drift takes them.
inline constexpr double kShift = 0.02;
// Within one: whether the job changed meanwhile is asked each time so much has been added.
inline constexpr StretchNeeds kGlance{0.25_s, 12, 8};
inline constexpr StretchNeeds kCheck{1_s, 50, 16};
inline constexpr StretchNeeds kControl{1_s, 50, 16};
inline constexpr Seconds kDrains{1.5};  // before and after a block
/// Of a stay of so many iterations, with what drains before and after it.
[[nodiscard]] inline Seconds length_of(const StretchNeeds& needs, Seconds unit) {
  return unit * static_cast<double>(needs.iterations + 3) + kDrains;
}

// Without news of the job's work for so long, and for so many of its units, no setting is held: what it costs
// is not seen.
inline constexpr Seconds kSilent{10};
inline constexpr double kSilentUnits = 10;
inline constexpr unsigned kMostSilences = 8;  // each doubles the wait at the found setting

// What is not spent of the budget is spent over this share of the run so far, or so long.
inline constexpr double kAheadShare = 0.2;
inline constexpr Seconds kShortestAhead{100};
/// Seconds, after a run of so many.
[[nodiscard]] inline double ahead(double run) {
  return std::max(run * kAheadShare, kShortestAhead.value());
}
inline constexpr double kReviewEvery = 1.04;  // times the run so far
inline constexpr double kCheckEvery = 1.3;
inline constexpr double kWorthMoving = 0.0005;
// Expected of any setting but the found one: less is within what noise makes of limits that do nothing.
inline constexpr double kWorthHolding = 0.003;

}  // namespace rubato::govern::pace
