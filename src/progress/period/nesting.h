// Periods within periods: whether a longer candidate is the iteration that a shorter one is only a part of.
#pragma once

#include <vector>

#include "progress/period/judged.h"

namespace rubato::progress {

/// A candidate and the series it is compared with longer ones on.
class Inner {
 public:
  Inner(const Samples& samples, const Judged& judged, const Span& span);

  /// What the longer candidate explains that this one does not.
  struct Verdict {
    bool longer_is_it = false;
    double gain = 0;            // of mean likeness
    bool only_by_grid = false;  // it would fit better for no other reason than where the readings fall
  };
  [[nodiscard]] Verdict against(const Judged& longer) const;

  /// Columns weighed, slow change taken off, on a grid the period is a whole number of steps of.
  [[nodiscard]] const Series& level() const { return level_; }
  /// The same with all detail, slow change included.
  [[nodiscard]] const Series& readings() const { return readings_; }

 private:
  struct Pair {
    std::vector<Stretch> own;
    std::vector<Stretch> other;
  };
  [[nodiscard]] Pair on_grid(const Series& series, double longer_s) const;
  [[nodiscard]] Pair on_readings(double longer_s, double multiple, bool is_multiple) const;
  [[nodiscard]] bool means_repeat(const Judged& longer) const;
  [[nodiscard]] bool hidden_by_grid(double longer_s) const;

  const Judged& judged_;
  Span span_;
  double period_s_;
  double window_s_;
  bool fine_;
  Series readings_;
  Series level_;
  std::vector<Events> events_;
};

}  // namespace rubato::progress
