// Energy of one source as a line over time that never falls and can be cut anywhere, so that parts cut from
// it add up to the whole. The rules are those of src/measure: the counter first, integrated power where it
// fails.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "analyse/beat_band.h"
#include "analyse/series_view.h"
#include "analyse/step_times.h"
#include "core/capability.h"

namespace rubato::analyse {

struct CurveEnergy {
  Joules energy;
  Joules band_sampling;  // half width
  Seconds unseen;        // without readings, and estimated there
  Seconds over;          // how long the stretch is
  [[nodiscard]] CurveEnergy scaled(double share) const {
    return {energy * share, band_sampling * share, unseen * share, over * share};
  }
};

class EnergyCurve {
 public:
  /// Corrected by the sensor's calibration where there is one and `corrected` says that it is this scope's.
  /// `steps`: of the job that the sensor may be in step with.
  EnergyCurve(const SeriesView& series, const SensorFacts& sensor, bool corrected = false,
              std::shared_ptr<const StepTimes> steps = nullptr);

  [[nodiscard]] bool empty() const { return knots_.size() < 2; }
  [[nodiscard]] bool has_counter() const { return has_counter_; }
  /// The sensor's own update period where it is known, else the usual distance between readings.
  [[nodiscard]] Seconds update_period() const { return period_; }
  /// First and last moment energy is known for: a few updates beyond the readings.
  [[nodiscard]] TimePoint begin() const { return knots_.front().at - reach(); }
  [[nodiscard]] TimePoint end() const { return knots_.back().at + reach(); }

  /// Absent outside [begin(), end()], and for an empty stretch.
  [[nodiscard]] std::optional<CurveEnergy> between(TimePoint from, TimePoint to) const;

 private:
  /// The curve up to one moment; all sums run from its beginning.
  struct Knot {
    TimePoint at;
    double joules = 0;
    double variance = 0;  // J², between readings: independent of each other
    double linear = 0;    // J, of estimates: may all be wrong in one direction
    double unseen = 0;    // s
    double powered = 0;   // s, over which power was integrated: no counter, or none that is believed
    double jitter = 0;    // s, within which a counter's update happened
  };
  struct Point {
    Knot sum;
    double edge_band = 0;
  };

  void from_power(const SeriesView& series, std::size_t first, std::size_t last);
  void from_counter(const SeriesView& series, const std::vector<std::size_t>& with_counter,
                    Seconds counter_period);
  void bridge(const SeriesView& series, std::size_t first, std::size_t last);
  void step(TimePoint at, double joules, double jitter);
  void estimate(TimePoint at, double watts);
  [[nodiscard]] Seconds reach() const { return 3.0 * period_; }
  [[nodiscard]] double slope(std::size_t segment) const;
  [[nodiscard]] Point at(TimePoint t) const;

  BeatBand beat_;
  std::vector<Knot> knots_;
  Seconds period_;
  Seconds averaging_;
  bool has_counter_ = false;
  bool counter_sees_all_ = false;
  double gain_ = 1.0;  // true = read / gain - offset, as in src/measure
  Watts offset_{};
};

}  // namespace rubato::analyse
