#include "measure/averaging_window.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace rubato::measure {
namespace {

constexpr std::size_t kFewestReadings = 60;
// The load must move by this much, or the noise would be fitted.
constexpr double kLeastSwingW = 5.0;
constexpr double kLeastSwing = 0.05;
constexpr double kExplained = 0.97;
// The counter tells energy no finer than its own updates.
constexpr double kUpdatesToTell = 4;
constexpr double kLongestS = 2.5;
// How much worse another window or an exponential lag must fit.
constexpr double kClearly = 2.0;
constexpr double kNear = 1.15;
constexpr double kOther = 1.3;
constexpr double kCoarse = 1.15;
constexpr double kFiner = 1.05;
// The counter adds up the same sensor, so their gains are alike.
constexpr double kGainLow = 0.7;
constexpr double kGainHigh = 1.3;

/// The energy counter as a line through its updates, laid on a grid: it is asked for millions of times.
class EnergyLine {
 public:
  EnergyLine(std::span<const FastReading> readings, double grid_s) : grid_s_(grid_s) {
    std::optional<Joules> before;
    TimePoint seen;
    bool drawing = false;
    double last_s = 0;
    double last_j = 0;
    for (const FastReading& r : readings) {
      if (!r.energy_counter) continue;
      const double at = (r.at - readings.front().at).value() - 0.5 * (r.at - seen).value();
      if (before && *r.energy_counter < *before) {  // a reset: what lay before cannot be joined
        joules_.clear();
        drawing = false;
      } else if (before && *r.energy_counter > *before) {
        if (drawing)
          draw(last_s, last_j, at, r.energy_counter->value());
        else
          begin_s_ = at;
        drawing = true;
        last_s = at;
        last_j = r.energy_counter->value();
      }
      before = r.energy_counter;
      seen = r.at;
    }
  }
  [[nodiscard]] bool covers(double from, double to) const { return from >= begin_s_ && to <= end(); }
  [[nodiscard]] double begin() const { return begin_s_; }
  [[nodiscard]] double end() const { return begin_s_ + (static_cast<double>(joules_.size()) - 1) * grid_s_; }
  [[nodiscard]] double operator()(double t) const {
    const double at = std::clamp((t - begin_s_) / grid_s_, 0.0, static_cast<double>(joules_.size()) - 1.001);
    const auto i = static_cast<std::size_t>(at);
    return joules_[i] + (joules_[i + 1] - joules_[i]) * (at - static_cast<double>(i));
  }

 private:
  void draw(double from_s, double from_j, double to_s, double to_j) {
    double t = begin_s_ + static_cast<double>(joules_.size()) * grid_s_;
    while (t <= to_s) {
      joules_.push_back(from_j + (to_j - from_j) * (t - from_s) / (to_s - from_s));
      t += grid_s_;
    }
  }

  double grid_s_;
  double begin_s_ = 0;
  std::vector<double> joules_;
};

struct Point {
  double at_s;
  double watts;
};

struct Fit {
  double left_w2 = std::numeric_limits<double>::infinity();  // mean square that stays unexplained
  double gain = 0;
};

// Straight line from what a model says to what was read: gain and offset are the sensor's own.
template <class Model>
Fit straight(const std::vector<Point>& points, const Model& model) {
  const auto n = static_cast<double>(points.size());
  double x = 0;
  double y = 0;
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (const Point& p : points) {
    const double m = model(p.at_s);
    x += m;
    y += p.watts;
    xx += m * m;
    xy += m * p.watts;
    yy += p.watts * p.watts;
  }
  const double var_x = xx - x * x / n;
  const double cov = xy - x * y / n;
  if (!(var_x > 1e-9 * xx)) return {};
  const double gain = cov / var_x;
  return {std::max(0.0, yy - y * y / n - gain * cov) / n, gain};
}

/// Tries one model at every delay between the counter and the reading.
class Delays {
 public:
  explicit Delays(double step_s) : step_s_(step_s) {}
  template <class Model>
  Fit best(const std::vector<Point>& points, const Model& model) const {
    Fit best;
    for (int k = -2; k <= 6; ++k) {
      const double delay = k * step_s_;
      const Fit fit = straight(points, [&](double t) { return model(t - delay); });
      if (fit.left_w2 < best.left_w2) best = fit;
    }
    return best;
  }

 private:
  double step_s_;
};

/// The counter's power behind a first-order lag, on a grid.
class Lagged {
 public:
  Lagged(const EnergyLine& energy, double grid_s, double lag_s) : begin_(energy.begin()), grid_s_(grid_s) {
    double level = (energy(begin_ + grid_s) - energy(begin_)) / grid_s;
    const double share = 1 - std::exp(-grid_s / lag_s);
    for (double t = begin_; t + grid_s <= energy.end(); t += grid_s) {
      level += share * ((energy(t + grid_s) - energy(t)) / grid_s - level);
      watts_.push_back(level);
    }
  }
  [[nodiscard]] double operator()(double t) const {
    const double at = (t - begin_) / grid_s_ - 1;
    const auto last = static_cast<double>(watts_.size() - 1);
    return watts_[static_cast<std::size_t>(std::clamp(std::round(at), 0.0, last))];
  }

 private:
  double begin_;
  double grid_s_;
  std::vector<double> watts_;
};

std::vector<Point> points_of(std::span<const FastReading> readings, const EnergyLine& energy, double tick) {
  const double margin = kLongestS * kOther + 3 * tick;
  std::vector<Point> points;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    // A reading was refreshed somewhere between the read before and this one.
    const double at =
        (readings[i].at - readings.front().at).value() - 0.5 * (readings[i].at - readings[i - 1].at).value();
    if (readings[i].power && energy.covers(at - margin, at + tick))
      points.push_back({at, readings[i].power->value()});
  }
  return points;
}

/// Mean square around the mean; absent where that is too little to tell anything from.
std::optional<double> swing_of(const std::vector<Point>& points) {
  if (points.size() < kFewestReadings) return std::nullopt;
  const auto n = static_cast<double>(points.size());
  double mean = 0;
  for (const Point& p : points) mean += p.watts / n;
  double swing = 0;
  for (const Point& p : points) swing += (p.watts - mean) * (p.watts - mean) / n;
  if (std::sqrt(swing) < std::max(kLeastSwingW, kLeastSwing * mean)) return std::nullopt;
  return swing;
}

/// `first` and on, each so many times the one before, up to the longest window looked for.
std::vector<double> geometric(double first, double factor) {
  std::vector<double> out;
  double value = first;
  while (value <= kLongestS) {
    out.push_back(value);
    value *= factor;
  }
  return out;
}

}  // namespace

WindowTrial find_averaging_window(std::span<const FastReading> readings, Seconds update_period,
                                  Seconds counter_period) {
  if (readings.size() < kFewestReadings) return {};
  const double tick =
      (readings.back().at - readings.front().at).value() / static_cast<double>(readings.size() - 1);
  const EnergyLine energy(readings, tick / 4);
  const std::vector<Point> points = points_of(readings, energy, tick);
  const auto swing = swing_of(points);
  if (!swing) return {};

  const WindowTrial unknown{.decidable = true, .window = std::nullopt};
  const Delays delays(tick / 2);
  const auto mean_over = [&](double window) {
    return delays.best(points, [&](double t) { return (energy(t) - energy(t - window)) / window; });
  };
  const double shortest = std::max(update_period.value(), tick);
  double window = 0;
  Fit best;
  const auto look_at = [&](double w) {
    if (const Fit fit = mean_over(w); fit.left_w2 < best.left_w2) {
      best = fit;
      window = w;
    }
  };
  for (const double w : geometric(shortest, kCoarse)) look_at(w);
  if (window < kUpdatesToTell * std::max(shortest, counter_period.value())) return unknown;
  const double coarse = window;
  for (const double finer : {1 / kFiner / kFiner, 1 / kFiner, kFiner, kFiner * kFiner})
    look_at(coarse * finer);
  const bool explained = best.left_w2 <= (1 - kExplained) * *swing;
  if (!explained || best.gain < kGainLow || best.gain > kGainHigh || window > kLongestS / kOther)
    return unknown;
  const double rival = std::min(mean_over(window / kNear).left_w2, mean_over(window * kNear).left_w2);
  if (rival < kClearly * best.left_w2) return unknown;
  for (const double lag : geometric(shortest / 2, kOther)) {
    const Lagged model(energy, tick / 2, lag);
    if (delays.best(points, model).left_w2 < kClearly * best.left_w2) return unknown;
  }
  return {.decidable = true, .window = Seconds(window)};
}

}  // namespace rubato::measure
