// Loads of many shapes, as power over time: piecewise constant, with edges anywhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/random.h"

namespace rubato::truth {

enum class Shape {
  idle,
  constant,
  square,
  iterations,
  near_beat,  // steps within 1 % of a small ratio of the sensor's true period
  bursts,
  stalls,
  drift,
  microbatches,
  epochs,
};
inline constexpr unsigned kShapes = 10;
[[nodiscard]] const char* name_of(Shape shape);

struct Stretch {
  double begin_s = 0;
  double power_w = 0;
};

struct Load {
  Shape shape = Shape::idle;
  std::vector<Stretch> stretches;  // in order; each up to the next one's begin
  double end_s = 0;
  /// Length and standard deviation of the iterations, where it has some.
  std::optional<double> step_s;
  double spread_s = 0;
};

/// Power between `idle_w` and `highest_w`; `sensor_period_s` matters to near_beat alone.
[[nodiscard]] Load draw_load(Shape shape, double seconds, double idle_w, double highest_w,
                             double sensor_period_s, Random& random);

}  // namespace rubato::truth
