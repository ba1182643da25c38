// Jobs with iterations: what varies between the families, and writing one out.
#pragma once

#include <utility>
#include <vector>

#include "base/random.h"
#include "period_truth/program.h"
#include "period_truth/recipe.h"

namespace rubato::period_truth {

struct Training {
  double length_s = 60;
  std::vector<Recipe> turns;  // done one after the other, together one iteration
  int parts = 1;
  double jitter = 0.005;        // of a whole iteration, standard deviation of the logarithm
  double piece_jitter = 0.005;  // the same of each piece
  double drift = 0;             // relative change of the iteration from begin to end
  bool drift_settles = false;   // early and then slower, as a machine that warms up
  double stall_chance = 0;      // per iteration
  double stall_s = 0;           // the shortest
  double stall_tail = 1.5;      // Pareto exponent
  int epoch_steps = 0;          // 0: no epochs
  Recipe evaluation;            // one batch of it
  int evaluation_batches = 0;
  double checkpoint_s = 0;
  std::vector<std::pair<double, double>> speeds{{0, 1}};
  double loading_s = 0;
  double background_w = 0;
  double background_s = 0;
};

[[nodiscard]] Training draw_training(Family family, Random& random);
[[nodiscard]] Program write_training(Family family, const Training& training, Random& random);

}  // namespace rubato::period_truth
