// What one estimate of the iteration says of another, and what that does to the chance that the other holds.
#pragma once

#include "progress/arbiter.h"

namespace rubato::progress {

enum class Agreement {
  same,          // one length: evidence for both
  whole,         // a whole multiple or part: another unit of the same rhythm
  silent,        // could not contradict whatever the truth
  contradicted,  // at most one of them is right
};

struct Comparison {
  Agreement finding = Agreement::silent;
  Check check;
};

/// What `other` says of `used`.
[[nodiscard]] Comparison compare(const IterationEstimate& used, const IterationEstimate& other);
/// Confidence of `used` after a check by `other` at its own confidence.
[[nodiscard]] double after_check(double confidence, const IterationEstimate& used,
                                 const IterationEstimate& other, Agreement finding);

}  // namespace rubato::progress
