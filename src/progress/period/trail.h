// The iterations followed so far, one after the other, whichever look each came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "progress/period/cycle_tracker.h"
#include "progress/period/length_histogram.h"

namespace rubato::progress {

/// Of two lengths: at another clock perhaps; not a multiple, or a part, that once was taken for the
/// iteration.
[[nodiscard]] bool same_iteration(double ratio);

class Trail {
 public:
  /// Cycles that begin where the last one ended, or later, go on it. Returns how many.
  std::size_t add(const std::vector<Cycle>& cycles, double period_s);

  /// Readings before are no longer kept: iterations there only count.
  void forget_before(double begin_s);

  /// It was another iteration: what was followed says nothing of its length.
  void start_again();

  /// The remembered ones that are this iteration and lie outside the given stretches.
  [[nodiscard]] std::vector<Cycle> outside(const std::vector<Cycle>& stretches, double period_s) const;

  /// The ends of the latest ones that follow each other without a break; oldest first, at most `most`.
  [[nodiscard]] std::vector<double> marks(std::size_t most) const;

  [[nodiscard]] const std::deque<Cycle>& recent() const { return recent_; }
  [[nodiscard]] const LengthHistogram& older() const { return older_; }
  [[nodiscard]] double end_s() const { return end_s_; }
  [[nodiscard]] std::vector<Cycle> take() { return std::exchange(ready_, {}); }

 private:
  std::deque<Cycle> recent_;
  LengthHistogram older_;
  std::vector<Cycle> ready_;
  double end_s_ = 0;
  double given_s_ = 0;  // up to here iterations were given out, of whichever length
};

}  // namespace rubato::progress
