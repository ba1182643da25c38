// How alike single stretches of the trace are to what follows one lag later. Looked at stretch by stretch, so
// that stalls, pauses and a change of clock spoil only the stretches they are in.
#pragma once

#include <cstddef>
#include <vector>

#include "progress/period/series.h"

namespace rubato::progress {

struct Stretch {
  double alike = 0;    // correlation at the best shift
  double shift_s = 0;  // that shift, from the lag asked for
  bool known = false;  // false: nothing but a plateau here
};

/// Stretches of `window_s`, every quarter of it, each against the stretch `lag_s` later, moved by up to
/// `slack_s` either way. The series has its slow part taken off.
[[nodiscard]] std::vector<Stretch> likeness(const Series& series, double window_s, double lag_s,
                                            double slack_s);

struct Likeness {
  double mean = 0;
  double median = 0;
  double good = 0;        // share of stretches that are alike
  double upper = 0;       // what a quarter of them exceed
  std::size_t count = 0;  // known stretches
};

[[nodiscard]] Likeness summary_of(const std::vector<Stretch>& stretches);

/// Median likeness that a series without period may reach by chance: the fewer stretches, the more.
[[nodiscard]] double chance_of(const Likeness& likeness);

/// The second less the first, over stretches known in both.
struct Gain {
  double mean = 0;
  double z = 0;       // in its own standard errors; neighbours overlap, which is allowed for
  double mended = 0;  // of stretches unlike at the first lag, the share alike at the second
  double spoilt = 0;  // of stretches alike at the first lag, the share unlike at the second
  double unlike = 0;  // share unlike at the first lag
  double run = 0;     // how many unlike ones follow each other, in the mean over unlike ones
  std::size_t count = 0;
};
[[nodiscard]] Gain gain(const std::vector<Stretch>& first, const std::vector<Stretch>& second);

}  // namespace rubato::progress
