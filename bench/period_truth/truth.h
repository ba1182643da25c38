// What is true of a trace, and whether its readings can tell.
//
// The truth is the median length of the iterations that the program wrote down, stalls and pauses left out. A
// period is *observable* by an argument that knows no detector, made from the noise-free output of the sensor
// and the program's own marks:
//  1. at least 8 whole iterations;
//  2. an iteration lasts at least 3 updates of the sensor and 3 readings;
//  3. the median is a number: the quantiles around it, by its own standard error and at least 0.04 in rank,
//  lie
//     within 1 % of it, so that 2 % are two standard errors (a program that jitters for a short time, or
//     stands between two clocks, has no truth to 2 %);
//  4. what tells T from every T/k stands out. The updates are folded by the marks. Of the folded wave, for
//  each
//     prime k, the energy in harmonics that k does not divide; the least of these, D, over the noise N per
//     update (the sensor's own, its rounding, and all of the noise-free output that does not repeat). An
//     energy detector that was told T needs D/N times its updates of about 60 to be right 99 times in 100 at
//     one false alarm in a million places (a sine in white noise: the periodogram's peak is half of that, in
//     units of its mean). Eight iterations must reach it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "period_truth/program.h"
#include "period_truth/sensor.h"

namespace rubato::period_truth {

inline constexpr double kLeastEvidence = 60;
inline constexpr std::size_t kLeastSteps = 8;

struct Truth {
  std::optional<double> median_s;  // absent: no iterations
  std::size_t steps = 0;           // whole ones in the trace
  double begin_s = 0;              // of the first iteration
  double evidence = 0;             // D/N times the updates in eight iterations
  bool observable = false;
  /// Where the median is not sharp: all lengths that might as well be it.
  std::vector<double> medians_s;
  /// From pause to pause, where the readings do not tell the iteration.
  std::optional<double> epoch_s;
  int parts = 1;            // like parts of an iteration, where they are told and the whole is not observable
  double update_s = 0;      // of the sensor
  double reading_s = 0;     // between readings
  std::vector<Step> marks;  // all steps
};

[[nodiscard]] Truth truth_of(const Program& program, const Sensor& sensor, const std::vector<Tick>& ticks,
                             double reading_s);

/// The median length of the steps around a moment.
[[nodiscard]] std::optional<double> local_median(const Truth& truth, double at_s);

}  // namespace rubato::period_truth
