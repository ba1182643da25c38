// What a signal did before the readings in question: its level, its slow drift, and its noise, learned so
// that stalls and late readings among them do not count.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"

namespace rubato::progress {

/// One reading of one signal, on the scale on which a change is a difference (logarithm, or the fraction).
struct SignalPoint {
  TimePoint begin;
  TimePoint end;
  double y = 0;

  [[nodiscard]] double middle_s() const { return (begin.since_epoch() + end.since_epoch()).value() / 2; }
};

class Baseline {
 public:
  /// Fewer cannot tell noise from change.
  static constexpr std::size_t kFewest = 12;

  /// Of at least kFewest points, in order.
  explicit Baseline(std::span<const SignalPoint> points);

  /// Expected at this time, by the level and the drift.
  [[nodiscard]] double expected(double at_s) const { return level_ + slope_ * (at_s - level_at_s_); }
  [[nodiscard]] double spread() const { return spread_; }
  [[nodiscard]] double correlation() const { return correlation_; }
  [[nodiscard]] double readings_per_second() const { return readings_per_second_; }
  /// Independent readings that the spread is worth, less one.
  [[nodiscard]] double degrees_of_freedom() const;
  /// Standard error of the mean of `count` readings less the level.
  [[nodiscard]] double standard_error(double count) const;
  /// Chance that one reading lies further out than `distance` on the side of `sign`, as the readings
  /// themselves show it; beyond the furthest seen, a tail that falls with the third power.
  [[nodiscard]] double chance_beyond(double distance, double sign) const;

 private:
  void find_level(std::span<const SignalPoint> points);
  [[nodiscard]] double steepness(std::span<const SignalPoint> points) const;
  void hold_against(std::span<const SignalPoint> points, double slope);
  void find_noise();

  double level_ = 0;
  double level_at_s_ = 0;
  std::size_t level_readings_ = 0;
  double slope_ = 0;  // per second
  double spread_ = 0;
  double correlation_ = 0;
  double readings_per_second_ = 1;
  std::vector<double> residuals_;  // in order of time
  std::vector<double> sorted_;     // the same, by size
};

/// Mean without the outer fifth (at least one value from three on) on each side; of at least one value.
[[nodiscard]] double trimmed_mean_of_sorted(std::span<const double> sorted);

}  // namespace rubato::progress
