// Iterations near and below the sensor's resolution: what a regular grid of updates can still tell of them.
//
// On a grid of dt the frequencies f, |f - 1/dt|, f + 1/dt ... put every update at the same phase: no fold
// tells them apart. But k iterations that fall on n updates repeat as exactly as the iteration does, and
// those a fold does tell apart: the shortest fold puts the same updates in order with the fewest harmonics
// (Lafler and Kinman 1965, here as lines of the spectrum).
#pragma once

#include <optional>
#include <vector>

#include "core/iteration_estimate.h"
#include "progress/period/judged.h"
#include "progress/period/updates.h"

namespace rubato::progress {

/// The fold that orders the updates with the fewest harmonics.
struct Fold {
  double updates = 0;    // in a period: at least 2, for what is shorter looks like one of these
  double explained = 0;  // of the variance, beyond what as many lines hold of noise
};

class UpdateSpectrum {
 public:
  explicit UpdateSpectrum(const Updates& updates);

  /// Absent where there are too few updates, or where no fold of up to `longest` updates explains them.
  [[nodiscard]] std::optional<Fold> smoothest_fold(double longest) const;

  /// How far from a whole number of cycles a frequency is allowed to be after so many updates, to be told
  /// from it.
  [[nodiscard]] double line_width() const { return stretch_ > 0 ? 1 / static_cast<double>(stretch_) : 1; }

  /// Of what a fold leaves unexplained: how alike it is to itself so many updates later, and its share of the
  /// variance. A longer period is the iteration only where that is much.
  struct Rest {
    double alike = 0;
    double share = 0;
  };
  [[nodiscard]] Rest rest_of(const Fold& fold, double lag_updates) const;

  /// How many updates later that rest repeats: the iteration, of which the fold is but a part. Absent where
  /// it is little or does not.
  [[nodiscard]] std::optional<double> rest_repeats_after(const Fold& fold) const;

 private:
  [[nodiscard]] double placed(double fundamental) const;
  [[nodiscard]] double told_apart(double fundamental) const;
  [[nodiscard]] std::size_t mirrored(long bin) const;

  std::size_t stretch_ = 0;    // updates each spectrum is of
  std::vector<double> power_;  // mean over stretches, 0 .. half a cycle per update; sums to 1
  std::vector<double> whole_;  // of the whole series
  std::size_t count_ = 0;
};

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
