// Readings for the tests: one a second, of a job at some level with some noise.
#pragma once

#include <optional>
#include <vector>

#include "base/random.h"
#include "progress/shift.h"

namespace rubato::progress::test {

struct Level {
  double period_s = 0.4;
  double power_w = 300;
  double utilisation = 0.9;
};

class Readings {
 public:
  explicit Readings(std::uint64_t seed = 1, double noise = 0.01, double length_s = 1)
      : random_(seed), noise_(noise), length_s_(length_s) {}

  ShiftReading next(const Level& level = {}) {
    ShiftReading r;
    r.begin = now();
    begin_s_ += length_s_;
    r.end = now();
    r.period = Seconds(level.period_s * (1 + noise_ * random_.normal()));
    r.power = Watts(level.power_w * (1 + noise_ * random_.normal()));
    r.sm_utilisation = level.utilisation * (1 + noise_ * random_.uniform(-1, 1));
    return r;
  }
  [[nodiscard]] TimePoint now() const { return TimePoint{} + Seconds(begin_s_); }

 private:
  Random random_;
  double noise_;
  double length_s_;
  double begin_s_ = 0;
};

/// `count` readings at a level; the first shift told, if any.
inline std::optional<Shift> run(ShiftDetector& detector, Readings& readings, int count,
                                const Level& level = {}) {
  std::optional<Shift> first;
  for (int i = 0; i < count; ++i) {
    auto shift = detector.add(readings.next(level));
    if (!first) first = shift;
  }
  return first;
}

/// Readings until a shift is told, at most `most`; absent: none.
inline std::optional<int> readings_until(ShiftDetector& detector, Readings& readings, int most,
                                         const Level& level, Shift* told = nullptr) {
  for (int i = 1; i <= most; ++i) {
    if (auto shift = detector.add(readings.next(level))) {
      if (told != nullptr) *told = *shift;
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace rubato::progress::test
