// Iterations near and below the sensor's resolution: what a regular grid of updates can still tell of them.
//
// On a grid of dt the frequencies f, |f - 1/dt|, f + 1/dt ... put every update at the same phase: no fold
// tells them apart. But k iterations that fall on n updates repeat as exactly as the iteration does, and
// those a fold does tell apart: the shortest fold puts the same updates in order with the fewest harmonics
// (Lafler and Kinman 1965, here as lines of the spectrum).
#pragma once

#include <optional>

#include "core/iteration_estimate.h"
#include "progress/period/judged.h"
#include "progress/period/update_spectrum.h"

namespace rubato::progress {

/// What the updates of the power sensor make of a period that was found in the readings.
struct Seen {
  double period_s = 0;
  PeriodRelation relation = PeriodRelation::exact;
  double explained = 0;
};

/// The latest updates of the power sensor in a stretch.
struct FoldedUpdates {
  double update_s = 0;
  UpdateSpectrum spectrum;
  std::optional<Fold> fold;
};

/// Absent where the power was not read.
[[nodiscard]] std::optional<FoldedUpdates> fold_updates(const Samples& samples, const Span& span);

/// Absent where they have nothing to add.
[[nodiscard]] std::optional<Seen> seen_by_updates(const FoldedUpdates& updates, const Span& span,
                                                  double found_s);

}  // namespace rubato::progress
