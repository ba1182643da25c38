// What the job takes while one setting, and the lower clocks beside it, are in force everywhere.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "govern/rubato/stretch_meter.h"
#include "govern/strategy.h"
#include "govern/stretch.h"

namespace rubato::govern {

/// Ranks, by position, whose SM clock is lower than the job's.
using LowerClocks = std::map<std::size_t, Megahertz>;

/// Standard error of the logarithm of an iteration's seconds.
[[nodiscard]] double error_of(const StretchMean& mean);
/// Of the difference of two.
[[nodiscard]] double error_of(const StretchMean& a, const StretchMean& b);

class SettledStretch {
 public:
  /// Another setting, or no load, begins anew; what was launched before a change is let drain.
  void measure(const Observation& job, const Setting& base, const LowerClocks& in_force);
  /// Goes on with the same setting, as if begun now.
  void restart(const Observation& job) { meter_->begin(*job.tally); }

  /// The change has drained.
  [[nodiscard]] bool open() const { return meter_.has_value(); }
  /// Enough: so many iterations, and so small an error or `most` iterations.
  [[nodiscard]] bool whole(double iterations, double error, double most) const;
  [[nodiscard]] std::optional<StretchMean> mean() const { return meter_ ? meter_->mean() : std::nullopt; }

 private:
  Setting base_;
  LowerClocks lower_;
  bool draining_ = true;
  Stretch drain_;
  std::optional<TimePoint> drained_;
  std::optional<StretchMeter> meter_;
};

}  // namespace rubato::govern
