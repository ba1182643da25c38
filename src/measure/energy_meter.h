// Energy of one GPU over any stretch of time, from its counter where it has one and from integrated power
// where not, with what is known about the error.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/beat.h"
#include "core/capability.h"
#include "core/kind.h"
#include "core/refresh_rate.h"
#include "core/sample.h"
#include "core/window.h"
#include "measure/counter_track.h"
#include "measure/power_integral.h"

namespace rubato::measure {

/// Names of the sources a meter labels its windows with.
inline constexpr std::string_view kEnergyCounter = "energy_counter";
inline constexpr std::string_view kIntegratedPower = "integrated_power";

/// A window and what a careful reader wants to know besides.
struct WindowDetail {
  EnergyWindow window;
  std::vector<PowerGap> gaps;               // without power readings; only those not yet forgotten
  CounterFaults counter_faults;             // joined with integrated power
  std::optional<std::string> disagreement;  // counter and integrated power differ by more than the bands
  std::optional<Beat> beat;                 // widens the sampling band
};

/// Fed with every fast reading, in time order. Holds readings only back to forget().
class EnergyMeter {
 public:
  EnergyMeter(SensorFacts facts, Kind kind, std::string gpu_name, Scope scope = Scope::gpu);

  /// The sensor turned out to be another one: bands and gaps of what is added from here on obey it.
  void learn(SensorFacts facts);

  /// The job's iterations as they are known by now: what beats with the sensor widens the sampling band, what
  /// does not narrows it. A mean that is not above zero: unknown again.
  void learn_step(Seconds step, Seconds spread);

  /// What the counter did; absent where the reading has none that can be one (below zero, not a number), or
  /// is not after the one before.
  std::optional<CounterStep> add(const FastReading& reading);
  /// From `at` on the GPU's numbers are of this kind: a table's are replayed on its rows and interpolated
  /// between them.
  void now_is(TimePoint at, Kind kind);

  /// Errors: invalid_argument where end <= begin; unavailable where no reading covers an edge.
  [[nodiscard]] Result<EnergyWindow> window(TimePoint begin, TimePoint end) const;
  [[nodiscard]] Result<WindowDetail> inspect(TimePoint begin, TimePoint end) const;

  /// Windows that begin or end exactly at a pinned moment stay computable after it was forgotten, at the cost
  /// of a few numbers: pin the begin of the run and of each block, and a day costs no more than a minute.
  void pin(TimePoint moment);
  void unpin(TimePoint moment);
  /// Drops readings that no window beginning at or after `before`, or at a pinned moment, needs.
  void forget(TimePoint before);

  [[nodiscard]] std::optional<TimePoint> latest() const { return latest_; }
  [[nodiscard]] std::size_t readings_held() const { return power_.readings() + counter_.updates(); }
  [[nodiscard]] Seconds update_period() const { return period_; }

 private:
  struct Edge {
    std::optional<CounterPoint> counter;
    std::optional<PowerPoint> power;
  };
  [[nodiscard]] Edge edge_at(TimePoint t) const;
  [[nodiscard]] SensorSight sight() const;
  /// With the period as it was seen rather than told.
  [[nodiscard]] SensorSight beating_sight() const;
  /// Standard deviation of what `integrated` may lack for a beat between iterations and sensor.
  [[nodiscard]] Joules beat_sigma(const PowerEnergy& integrated, TimePoint begin, TimePoint end) const;
  [[nodiscard]] Joules calibration_band(const EnergyWindow& window) const;
  /// The board's own gain and offset taken off, where they are known.
  void calibrate(EnergyWindow& window) const;
  [[nodiscard]] Source source(std::string_view name, TimePoint begin, TimePoint end) const;
  /// The least direct kind of number in force within [begin, end].
  [[nodiscard]] Kind kind_within(TimePoint begin, TimePoint end) const;
  /// Why a window has no counter; empty where the GPU has none at all.
  [[nodiscard]] std::string why_no_counter() const;

  SensorFacts facts_;
  std::vector<std::pair<TimePoint, Kind>> kinds_;  // since when; a new GPU's first one from the start
  std::string gpu_name_;
  Scope scope_;
  Seconds period_;
  Seconds counter_period_;
  std::optional<StepTime> step_;
  RefreshRate refresh_;
  PowerIntegral power_;
  CounterTrack counter_;
  std::uint64_t nonsense_ = 0;  // counter readings that can be none
  std::optional<TimePoint> latest_;
  std::map<TimePoint, std::optional<Edge>> pins_;  // fixed once their readings are about to go
};

}  // namespace rubato::measure
