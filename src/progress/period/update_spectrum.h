// The spectrum of a sensor's updates, and the folds that explain it (undersampled.h).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "progress/period/updates.h"

namespace rubato::progress {

inline constexpr double kRestAlike = 0.5;   // of the rest with itself: half of it is no noise
inline constexpr double kRestShare = 0.05;  // of the variance: less is noise and jitter
inline constexpr int kMostCommon = 12;      // updates after which a multiple may fall on the grid

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

}  // namespace rubato::progress
