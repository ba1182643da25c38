// Which counters changed between two windows, and which of the changes last.
#pragma once

#include <span>
#include <vector>

#include "core/feature_schema.h"

namespace rubato::progress {

struct FeatureChange {
  Feature feature{};
  double before = 0;
  double after = 0;
  double by = 0;  // difference of two fractions; else relative to before
};

/// Features counted in both windows that differ by `smallest` or more, the largest change first.
[[nodiscard]] std::vector<FeatureChange> feature_changes(const FeatureVector& before,
                                                         const FeatureVector& after, double smallest = 0.05);
/// Those that show, the same way, in every window after; `after` of the last one. A change in the first
/// window alone was a passing one: an evaluation, a checkpoint.
[[nodiscard]] std::vector<FeatureChange> lasting_changes(const FeatureVector& before,
                                                         std::span<const FeatureVector> after,
                                                         double smallest = 0.05);

}  // namespace rubato::progress
