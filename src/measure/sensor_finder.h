// Finds out how one GPU's power sensor behaves while it is read anyway. Where its period is unknown, or what
// is read contradicts what is known, it asks for a short burst of faster reads: one second, three times at
// most.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/capability.h"
#include "core/sample.h"
#include "measure/update_period.h"

namespace rubato::measure {

/// Absent is unknown, which is legal: better than a guess.
struct SensorFindings {
  std::optional<Seconds> update_period;
  std::optional<Seconds> averaging_window;
  std::optional<Seconds> counter_period;
  std::string how;            // in words
  std::uint64_t samples = 0;  // looked at
};

class SensorFinder {
 public:
  /// `known`: from a table or an earlier run.
  explicit SensorFinder(const SensorFacts& known);

  /// Every reading, in order of time.
  void add(const FastReading& reading);
  /// How often it should be read now; absent: as usual.
  [[nodiscard]] std::optional<Seconds> wanted_pace() const;
  /// Everything found so far, once after each discovery.
  [[nodiscard]] std::optional<SensorFindings> take_news();
  [[nodiscard]] const SensorFindings& found() const { return found_; }

 private:
  [[nodiscard]] bool counter_wanted() const;
  [[nodiscard]] bool power_wanted() const;
  /// The latest readings change by so much that a burst would see every refresh; an idle board's do not, and
  /// a job loads its libraries for longer than all bursts last.
  [[nodiscard]] bool telling() const;
  void begin_burst(TimePoint now);
  void judge_burst(TimePoint now);
  void judge_ticks();
  /// True where the sensor is refreshed at most every other tick.
  [[nodiscard]] bool too_slow_for_its_tick() const;
  void judge_window();
  void discovered(std::optional<Seconds>& fact, Seconds value, const std::string& how);

  std::optional<Seconds> known_period_;
  std::optional<Seconds> known_window_;
  std::optional<Seconds> known_counter_period_;
  SensorFindings found_;
  bool news_ = false;

  unsigned bursts_ = 0;
  bool in_burst_ = false;
  bool has_counter_ = false;
  bool doubted_ = false;    // the readings contradict the known period
  bool confirmed_ = false;  // a burst or the ticks agreed with it
  TimePoint burst_begin_;
  std::vector<SeenValue> power_;    // of the burst
  std::vector<SeenValue> counter_;  // of the burst
  std::vector<FastReading> ticks_;  // the latest at the usual pace
  std::size_t since_judged_ = 0;
  unsigned window_trials_ = 0;
  std::optional<Seconds> window_seen_;  // by the latest trial that saw one
};

}  // namespace rubato::measure
