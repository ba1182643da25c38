// The latest iterations, and what they say of the period: its length, how sure that is, and whether it
// drifts.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/clock.h"

namespace rubato::progress::kernels {

class IterationLog {
 public:
  struct Entry {
    TimePoint begin;
    TimePoint end;
    std::size_t launches = 0;  // of the stream that is followed
    std::size_t others = 0;    // of the process's other streams
  };

  void add(const Entry& entry);
  void clear() { *this = {}; }

  [[nodiscard]] std::uint64_t count() const { return count_; }  // since clear()
  [[nodiscard]] Seconds covered() const { return covered_; }    // all their durations
  [[nodiscard]] std::optional<TimePoint> last_end() const;
  /// Median begin to begin of the latest iterations.
  [[nodiscard]] std::optional<Seconds> period() const;
  /// Of that median, 95 %, as a fraction.
  [[nodiscard]] std::optional<double> half_width() const;
  /// Relative change of the period a minute.
  [[nodiscard]] std::optional<double> drift_per_minute() const;
  [[nodiscard]] std::optional<std::size_t> median_launches() const;
  /// Launches on other streams in one iteration: these race, so it is a mean over many, the extremes left
  /// out.
  [[nodiscard]] std::size_t mean_others() const;

 private:
  std::deque<Entry> latest_;
  std::uint64_t count_ = 0;
  Seconds covered_{0};
};

}  // namespace rubato::progress::kernels
