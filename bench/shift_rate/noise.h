// The judge's own runs: readings of a steady job as real ones look, with or without one change. Shares no
// code with the detector.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "progress/shift.h"

namespace rubato::shift_rate {

/// What disturbs the readings of an otherwise steady job.
struct Family {
  std::string_view name;
  std::string_view says;
  double spread = 0.01;        // of one second's reading, relative to the level
  double correlation = 0;      // first-order autoregression, reading to reading
  int tail = 0;                // degrees of freedom of Student's t; 0: normal
  double outliers = 0;         // chance of a reading that is off by a factor of up to 5
  double drift = 0;            // thermal creep of the power, as a fraction, over about ten minutes
  bool quantised = false;      // 1 W, 1 % and 10 ms on a small board
  bool irregular = false;      // 0.2 to 5 s; noise falls with the root of the length
  double period_jitter = 0;    // of the period besides
  double reading_seconds = 1;  // where they are regular
};

inline constexpr std::array<Family, 12> kFamilies{{
    {.name = "steady", .says = "white noise of 1 %"},
    {.name = "noisy", .says = "white noise of 3 %", .spread = 0.03},
    {.name = "jitter", .says = "iterations vary by 5 %, log-normal", .period_jitter = 0.05},
    {.name = "correlated", .says = "1 %, each reading hangs on the one before by 0.5", .correlation = 0.5},
    {.name = "very correlated", .says = "1 %, by 0.9", .correlation = 0.9},
    {.name = "heavy tails", .says = "Student's t with 3 degrees of freedom, scale 1 %", .tail = 3},
    {.name = "outliers", .says = "1 % of the readings are off by up to a factor of 5", .outliers = 0.01},
    {.name = "warming up", .says = "power creeps by 5 % over ten minutes", .drift = 0.05},
    {.name = "quantised",
     .says = "60 to 100 W in steps of 1 W, utilisation in 1 %, 10 ms",
     .quantised = true},
    {.name = "irregular", .says = "readings of 0.2 to 5 s", .irregular = true},
    {.name = "fast",
     .says = "readings of 0.2 s, each hangs on the one before by 0.7",
     .correlation = 0.7,
     .reading_seconds = 0.2},
    {.name = "everything",
     .says = "tails of t with 4, 0.6 correlated, 0.5 % outliers, drift, 0.2 to 5 s",
     .correlation = 0.6,
     .tail = 4,
     .outliers = 0.005,
     .drift = 0.04,
     .irregular = true},
}};

enum class Changed { period, power };

struct Change {
  double at_s = 0;
  Changed what = Changed::power;
  double size = 0;  // 0.05: the new level is 1.05 times the old one
};

/// Readings one by one; the same random numbers give the same run.
class Job {
 public:
  Job(const Family& family, Random random, std::optional<Change> change = std::nullopt);
  [[nodiscard]] progress::ShiftReading next();
  [[nodiscard]] double now_s() const { return now_s_; }

 private:
  struct Noise {
    double state = 0;
    bool begun = false;
  };

  [[nodiscard]] double draw(Noise& noise, double length_s);
  [[nodiscard]] double tailed();
  /// Mean factor of the change over a reading.
  [[nodiscard]] double factor(Changed what, double begin_s, double end_s) const;

  Family family_;
  Random random_;
  std::optional<Change> change_;
  double now_s_ = 0;
  double period_s_ = 0;
  double power_w_ = 0;
  double utilisation_ = 0;
  double drift_seconds_ = 0;
  std::array<Noise, 3> noise_;
};

}  // namespace rubato::shift_rate
