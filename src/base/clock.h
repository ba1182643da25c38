// Time is passed in. Three clocks: real; virtual (one process, moved by an event queue); scaled (a simulated
// world runs `rate` times faster than the wall, in every process that looks at it).
#pragma once

#include <compare>
#include <cstdint>

#include "base/units.h"

namespace rubato {

/// A point on a monotonic axis, in nanoseconds. On the real clock the axis is CLOCK_MONOTONIC.
struct TimePoint {
  std::int64_t ns = 0;

  constexpr auto operator<=>(const TimePoint&) const = default;
  [[nodiscard]] constexpr Seconds since_epoch() const { return Seconds(static_cast<double>(ns) * 1e-9); }
};

constexpr Seconds operator-(TimePoint a, TimePoint b) {
  return Seconds(static_cast<double>(a.ns - b.ns) * 1e-9);
}
constexpr TimePoint operator+(TimePoint t, Seconds d) {
  const double ns = d.value() * 1e9;
  return TimePoint{t.ns + static_cast<std::int64_t>(ns < 0 ? ns - 0.5 : ns + 0.5)};
}
constexpr TimePoint operator-(TimePoint t, Seconds d) {
  return t + -d;
}

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint now() const = 0;
  /// How long to wait on the wall for `span` of this clock's time: for poll() and timers of a live driver.
  [[nodiscard]] virtual Seconds wall(Seconds span) const = 0;
};

class RealClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override;
  [[nodiscard]] Seconds wall(Seconds span) const override { return span; }
};

/// now() = origin + (monotonic - origin) * rate: at rate 1 it is the real clock.
class ScaledClock final : public Clock {
 public:
  ScaledClock(TimePoint origin, double rate) : origin_(origin), rate_(rate) {}
  [[nodiscard]] TimePoint now() const override;
  [[nodiscard]] Seconds wall(Seconds span) const override { return span / rate_; }
  [[nodiscard]] double rate() const { return rate_; }
  [[nodiscard]] TimePoint origin() const { return origin_; }

 private:
  TimePoint origin_;
  double rate_;
};

/// Stands still until somebody moves it.
class VirtualClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return now_; }
  [[nodiscard]] Seconds wall(Seconds) const override { return Seconds(0); }
  void advance_to(TimePoint t) {
    if (t > now_) now_ = t;
  }
  void advance(Seconds d) { advance_to(now_ + d); }

 private:
  TimePoint now_{};
};

/// Sleeps on the wall until the clock reads `t`; returns at once on a virtual clock.
void sleep_until(const Clock& clock, TimePoint t);

}  // namespace rubato
