// One stay at one setting: going there, waiting until what was launched before has drained, and measuring.
#pragma once

#include <optional>
#include <string>

#include "govern/rubato/stretch_meter.h"
#include "govern/strategy.h"
#include "govern/stretch.h"

namespace rubato::govern {

class Visit {
 public:
  /// `setting` empty: the found one. A stay that goes on where the one before ended begins to measure at
  /// once. `cell`: see StretchMeter.
  void begin(const Setting& setting, BlockRole role, std::string why, const Observation& o, double cell = 0);

  /// What is to be done; nothing while it measures.
  [[nodiscard]] std::optional<Decision> step(const Observation& o);

  [[nodiscard]] const StretchMeter& meter() const { return meter_; }
  [[nodiscard]] bool measuring() const { return stage_ == Stage::measuring; }
  [[nodiscard]] const Setting& setting() const { return setting_; }
  /// The answer while it measures.
  [[nodiscard]] Decision wait() const { return {Action::wait, {}, role_, why_, std::nullopt}; }
  /// How long the latest change took to come into force: on many nodes it is agreed on first.
  [[nodiscard]] Seconds latency() const { return latency_; }
  /// What was measured so far was disturbed.
  void measure_anew(const Observation& o);

 private:
  enum class Stage { going, draining, measuring };
  [[nodiscard]] std::optional<Decision> going(const Observation& o);
  void begin_to_drain(const Observation& o);
  [[nodiscard]] std::optional<Decision> draining(const Observation& o);

  Setting setting_;
  BlockRole role_ = BlockRole::warmup;
  std::string why_;
  Stage stage_ = Stage::going;
  TimePoint asked_;
  std::optional<TimePoint> first_asked_;
  Seconds latency_;
  Stretch drain_;
  std::optional<TimePoint> drained_;  // end of the last iteration that is still the drain's
  double cell_ = 0;
  StretchMeter meter_;
};

}  // namespace rubato::govern
