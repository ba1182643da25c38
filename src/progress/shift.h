// Whether the job still does what it did: a shift in period, power or features, told at a stated rate of
// false alarms.
#pragma once

#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/units.h"
#include "core/feature_schema.h"
#include "core/shift.h"

namespace rubato::progress {

/// One stretch of the run under one setting: an iteration or a few, or about a second where there are none.
struct ShiftReading {
  TimePoint begin;
  TimePoint end;
  std::optional<Seconds> period;
  std::optional<Watts> power;  // mean over the stretch
  std::optional<double> sm_utilisation;
  std::optional<FeatureVector> features;
};

struct ShiftOptions {
  /// False alarms to expect in an hour in which nothing changes, all signals together.
  double false_alarms_per_hour = 0.1;
  /// Smaller changes are not worth a new measurement: as a fraction of the level, or of 1 for what is a
  /// fraction itself. What is estimated at 0.6 of it or more is told, or half of those just as large were
  /// missed.
  double smallest_change = 0.05;
};

/// The mean of the latest readings (3 to 60 of them, a minute at most) is held against the level before, in
/// standard errors that know the readings' correlation and how few the level was learned from; besides, more
/// readings have to lie beyond half way than stalls and late readings explain. A change that is over within a
/// second or two readings is none, nor is a drift of 1 % a minute. What does not stand out within a minute
/// becomes part of the level. docs/evidence/shifts.md has the rates and the delays.
class ShiftDetector {
 public:
  explicit ShiftDetector(ShiftOptions options = {});
  ~ShiftDetector();
  ShiftDetector(ShiftDetector&&) noexcept;
  ShiftDetector& operator=(ShiftDetector&&) noexcept;

  /// At most one shift a reading; after it the detector learns the new level by itself.
  [[nodiscard]] std::optional<Shift> add(const ShiftReading& reading);
  /// The setting was changed, or something else that explains any change: learn anew from `at` on.
  void rebase(TimePoint at);
  /// Enough readings (15) to tell a shift from noise; the more, the smaller the shift.
  [[nodiscard]] bool ready() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rubato::progress
