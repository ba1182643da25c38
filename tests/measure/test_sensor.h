// A power sensor and a job for the finder's tests: every property is an argument, none is a profile's.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/random.h"
#include "core/sample.h"

namespace rubato::measure::testing_sensor {

struct SensorKind {
  const char* name = "";
  double period_s = 0.1;
  double window_s = 0.1;          // mean of the time before the refresh
  double lag_s = 0;               // instead of a window: first-order, as Kepler boards show it
  double counter_period_s = 0.1;  // 0: no counter
  double noise_w = 0.3;           // standard deviation of a reading
  double grain_w = 0.001;         // readings are multiples of it
};

/// Idle, then a training whose iterations have two levels of power, with pauses for checkpoints. On a grid of
/// 1 ms.
class Job {
 public:
  Job(double seconds, std::uint64_t seed, double drift_w_per_s = 0.2, double jitter = 0.01) {
    Random random(seed);
    const double idle = random.uniform(20, 60);
    const double low = random.uniform(100, 180);
    const double high = low + random.uniform(20, 120);
    const double iteration = random.uniform(0.15, 1.2);
    const double share = random.uniform(0.3, 0.7);
    double next_pause = random.uniform(12, 25);
    double t = 0;
    const auto hold = [&](double watts, double length) {
      for (const double end = t + length; t < end; t += kGrid)
        joules_.push_back(joules_.back() + (watts + drift_w_per_s * (1 - std::exp(-t / 60)) * 60) * kGrid);
    };
    hold(idle, random.uniform(2, 5));
    while (t < seconds) {
      const double length = iteration * std::max(0.5, 1 + jitter * random.normal());
      hold(low, length * share);
      hold(high, length * (1 - share));
      if (t > next_pause) {
        hold(idle, random.uniform(0.8, 3));
        next_pause = t + random.uniform(12, 25);
      }
    }
  }
  [[nodiscard]] double joules(double t) const {
    const double at = std::clamp(t / kGrid, 0.0, static_cast<double>(joules_.size() - 2));
    const auto i = static_cast<std::size_t>(at);
    return joules_[i] + (joules_[i + 1] - joules_[i]) * (at - static_cast<double>(i));
  }

 private:
  static constexpr double kGrid = 1e-3;
  std::vector<double> joules_{0.0};
};

class Sensor {
 public:
  Sensor(const SensorKind& kind, const Job& job, std::uint64_t seed)
      : kind_(kind),
        job_(job),
        random_(seed),
        next_(kind.period_s * random_.uniform()),
        counter_next_(kind.counter_period_s * random_.uniform()) {
    shown_ = job.joules(0.01) / 0.01;
    level_ = shown_;
  }
  [[nodiscard]] FastReading read(double t) {
    for (; next_ <= t; next_ += kind_.period_s) {
      double watts = kind_.lag_s > 0 ? lagged(next_) : mean(next_, kind_.window_s);
      watts += kind_.noise_w * random_.normal();
      shown_ = std::round(std::max(0.0, watts) / kind_.grain_w) * kind_.grain_w;
    }
    FastReading reading{.at = TimePoint{} + Seconds(t), .power = Watts(shown_)};
    if (kind_.counter_period_s > 0) {
      for (; counter_next_ <= t; counter_next_ += kind_.counter_period_s)
        counted_ = job_.joules(counter_next_);
      reading.energy_counter = Joules(std::floor(counted_ * 1e3) / 1e3);
    }
    return reading;
  }

 private:
  [[nodiscard]] double mean(double t, double window) const {
    return (job_.joules(t) - job_.joules(t - window)) / window;
  }
  double lagged(double t) {
    for (constexpr double kStep = 0.005; lag_at_ + kStep <= t; lag_at_ += kStep)
      level_ += (1 - std::exp(-kStep / kind_.lag_s)) * (mean(lag_at_ + kStep, kStep) - level_);
    return level_;
  }

  SensorKind kind_;
  const Job& job_;
  Random random_;
  double next_;
  double counter_next_;
  double shown_ = 0;
  double counted_ = 0;
  double level_ = 0;
  double lag_at_ = 0;
};

}  // namespace rubato::measure::testing_sensor
