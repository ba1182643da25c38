// A whole job written out in time, with the marks that the program itself would have set: the truth.
#pragma once

#include <vector>

#include "base/random.h"
#include "period_truth/family.h"

namespace rubato::period_truth {

/// Work of one kind, from the end of the one before.
struct Stretch {
  double seconds = 0;
  double level = 0;
  double busy = 0;
  double memory = 0;
  double speed = 1;  // clock over the highest clock
};

/// One iteration as it happened. Stalls inside it are `lost_s`; pauses lie between iterations.
struct Step {
  double begin_s = 0;
  double end_s = 0;
  double lost_s = 0;
  [[nodiscard]] double seconds() const { return end_s - begin_s - lost_s; }
};

struct Program {
  Family family = Family::plain;
  std::vector<Stretch> stretches;
  std::vector<Step> steps;  // none where the family has no iterations
  double end_s = 0;
  /// Into how many like parts an iteration falls (micro-batches, the two of a pair); 1: none.
  int parts = 1;
  /// Steps between two pauses; 0: there are none.
  int epoch_steps = 0;
  /// A slow power of the board's own: amplitude in watts, and its period.
  double background_w = 0;
  double background_s = 0;
};

[[nodiscard]] Program draw_program(Family family, Random& random);

}  // namespace rubato::period_truth
