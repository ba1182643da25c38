// Energy from power readings that come at irregular times: linear between readings, held for at most one
// update period (and the reading's own delay) beyond them. Where nothing was read for longer, a gap is told
// apart from what was measured.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "core/sensor_sight.h"

namespace rubato::measure {

struct PowerGap {
  TimePoint begin;
  TimePoint end;
  Joules estimate;  // at the mean power of the neighbours
  Joules band;      // half width of that estimate
};

struct PowerEnergy {
  Joules measured;
  Joules estimated;     // in gaps
  Joules band;          // half width for both together, 95 %
  Joules unseen_sigma;  // standard deviation of what passed between the looks: part of `band`
  Seconds gap_time;
  Watts spread;  // standard deviation of the readings
  [[nodiscard]] Joules total() const { return measured + estimated; }
};

/// Running sums up to one moment: the difference of two points is a window, however long ago the first was.
struct PowerPoint {
  double measured_j = 0;
  double estimated_j = 0;
  double linear_band_j = 0;  // gaps and held ends: may all be wrong in one direction
  double variance_j2 = 0;    // between neighbouring readings: independent of each other
  double square_w2s = 0;     // of the readings, over time
  double read_s = 0;         // that time: all but the gaps
  double gap_s = 0;
  double power_w = 0;
  double lag_j = 0;             // drawn by this moment, still to come in a reading that creeps
  double edge_variance_j2 = 0;  // of this moment alone
};

struct PowerRange {
  Watts lowest;
  Watts highest;
};

class PowerIntegral {
 public:
  explicit PowerIntegral(SensorSight sensor);

  /// From here on, where it turns out to be another one.
  void set_sensor(SensorSight sensor) { sensor_ = sensor; }
  /// The job's iterations, once they are known: what repeats within them is no surprise between two looks.
  void set_step(std::optional<Seconds> step) { step_ = step; }

  /// False, and nothing happens, where `at` is not after the latest reading or the power is not a number >=
  /// 0.
  bool add(TimePoint at, Watts power);

  /// Absent where there is no reading, or `t` lies in what was forgotten.
  [[nodiscard]] std::optional<PowerPoint> at(TimePoint t) const;
  /// The same as what the power did up to `t`: readings that tell of it come later, and what they leave open
  /// about this moment is its edge variance.
  [[nodiscard]] std::optional<PowerPoint> edge(TimePoint t) const;
  [[nodiscard]] PowerEnergy between(const PowerPoint& begin, const PowerPoint& end) const;
  [[nodiscard]] std::optional<PowerEnergy> over(TimePoint begin, TimePoint end) const;
  /// Gaps inside [begin, end], cut to it; only those not yet forgotten.
  [[nodiscard]] std::vector<PowerGap> gaps(TimePoint begin, TimePoint end) const;
  /// Lowest and highest reading inside [begin, end], the neighbours just outside included.
  [[nodiscard]] std::optional<PowerRange> range(TimePoint begin, TimePoint end) const;

  /// Drops what windows that begin at or after `before` do not need.
  void forget(TimePoint before);
  [[nodiscard]] std::optional<TimePoint> latest() const;
  [[nodiscard]] std::size_t readings() const { return nodes_.size(); }

 private:
  struct Node {
    TimePoint at;
    PowerPoint sum;  // up to this reading
  };
  struct Blind {  // a stretch beyond readings, seen as a function of the time gone into it
    double power_w;
    double hold_band_w;
    double gap_band_w;
  };

  [[nodiscard]] PowerPoint advance(const Node& from, const Node& to, double seconds) const;
  [[nodiscard]] Blind beyond(const Node& end, const Node* neighbour) const;
  [[nodiscard]] double gap_band(double estimate_w) const;
  /// Variance of the energy of one pair of neighbouring readings, per (J/s of their difference)^2 and s^2.
  [[nodiscard]] double unseen_share() const;
  [[nodiscard]] double edge_variance(TimePoint t, double power_w) const;
  [[nodiscard]] PowerPoint point_at(TimePoint t, double held_s) const;

  SensorSight sensor_;
  std::optional<Seconds> step_;
  std::deque<Node> nodes_;
  std::deque<PowerGap> gaps_;
  double lowest_w_ = 0;
  double highest_w_ = 0;
  bool forgot_ = false;
};

}  // namespace rubato::measure
