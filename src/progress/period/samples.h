// What the period detector keeps of a trace: the recent readings of each column, cleaned, in bounded memory.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <optional>

#include "progress/telemetry.h"

namespace rubato::progress {

enum class Column { power, sm_utilisation, memory_utilisation, sm_clock };
inline constexpr std::size_t kColumns = 4;

struct ColumnSample {
  double at_s = 0;  // since the first point
  double value = 0;
};

class Samples {
 public:
  /// False: dropped, because nothing in the point can be used or its time does not follow the last one's.
  bool add(const TelemetryPoint& point);

  [[nodiscard]] const std::deque<ColumnSample>& column(Column column) const {
    return columns_[static_cast<std::size_t>(column)];
  }
  [[nodiscard]] std::optional<TimePoint> origin() const { return origin_; }
  [[nodiscard]] double begin_s() const { return begin_s_; }  // oldest still kept
  [[nodiscard]] double end_s() const { return end_s_; }
  [[nodiscard]] std::size_t used() const { return used_; }
  [[nodiscard]] std::size_t dropped() const { return dropped_; }
  [[nodiscard]] std::size_t gaps() const { return gaps_; }

  /// Typical distance of two readings, of the densest column that varies; absent for fewer than 8 readings.
  [[nodiscard]] std::optional<double> reading_period_s() const;

  /// update_period_s() of a column, learnt once for as long as no reading comes.
  [[nodiscard]] std::optional<double> hold_s(Column column) const;

  /// The same, but of a utilisation that only knows a few levels the most that its driver may hold it, as far
  /// as changes that follow each other sooner do not show otherwise; 0 where nothing is known.
  [[nodiscard]] double longest_hold_s(Column column) const;

 private:
  struct Hold {
    std::size_t used = 0;  // readings it was learnt from; 0: not yet
    std::optional<double> value_s;
    double longest_s = 0;
  };
  [[nodiscard]] const Hold& hold_of(Column column) const;

  std::array<std::deque<ColumnSample>, kColumns> columns_;
  mutable std::array<Hold, kColumns> holds_;  // a look asks a hundred times
  std::optional<TimePoint> origin_;
  std::optional<TimePoint> latest_;
  double begin_s_ = 0;
  double end_s_ = 0;
  std::size_t used_ = 0;
  std::size_t dropped_ = 0;
  std::size_t gaps_ = 0;
};

/// How often the column's value really changes: the sensor's hold, where it is slower than the reading. Of
/// readings with noise this is the reading period itself; absent where the column only knows a few levels.
[[nodiscard]] std::optional<double> update_period_s(const std::deque<ColumnSample>& samples);

/// Between the changes of a column that follow each other soonest, late readings aside; absent where there
/// are fewer than two.
[[nodiscard]] std::optional<double> soonest_change_s(const std::deque<ColumnSample>& samples);

}  // namespace rubato::progress
