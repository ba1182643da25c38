// One signal of one job: keeps what it needs of its past and says when its level changed for good.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "progress/shift/baseline.h"

namespace rubato::progress {

struct LevelChange {
  TimePoint at;  // begin of the first reading on the new level
  double from = 0;
  double to = 0;
  std::size_t readings = 0;  // that lie after it
  double spread = 0;         // of the noise
  double excess = 1;         // how many times as far out as it had to be
};

class SignalWatch {
 public:
  /// `smallest` on the scale of SignalPoint::y.
  explicit SignalWatch(double smallest) : smallest_(smallest) {}

  /// `alarms_per_hour`: what is left of all false alarms for this signal.
  [[nodiscard]] std::optional<LevelChange> add(const SignalPoint& point, double alarms_per_hour);
  /// Everything that began before is forgotten.
  void forget_before(TimePoint at);
  [[nodiscard]] bool ready() const { return baseline_.has_value(); }

 private:
  [[nodiscard]] std::size_t window() const;
  void learn();
  [[nodiscard]] bool in_force(double sign, double size) const;
  [[nodiscard]] LevelChange locate(double sign, double size) const;

  double smallest_;
  std::deque<SignalPoint> points_;
  std::optional<Baseline> baseline_;
  std::size_t since_learned_ = 0;
  double threshold_ = 0;
  double threshold_readings_ = 0;  // that threshold_ was computed for
};

}  // namespace rubato::progress
