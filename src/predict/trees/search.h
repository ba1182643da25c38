// Which trees to grow: hyper-parameters chosen by leaving groups out, inside what the learner was given.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "predict/trees/dataset.h"

namespace rubato::predict::trees {

struct Choice {
  unsigned max_depth = 2;
  unsigned rounds = 100;
  int monotone = 0;        // in the columns of Schema::faster: 1 never falls, -1 never rises, 0 free
  bool with_power = true;  // with default_power_over_most_seen
  [[nodiscard]] Boosting boosting(const Schema& schema) const;
};

struct Searched {
  Choice choice;
  Eigen::VectorXd held_out;  // row by row, by trees that saw none of its fold
  double error = 0;          // mean_error of it
};

/// `direction`: 1 or -1, how physics says the target moves with Schema::faster: trees bound to it and free
/// ones are tried (a GPU at its power limit may run slower with a faster memory clock).
[[nodiscard]] Result<Searched> search(const Dataset& data, const Schema& schema,
                                      const Eigen::VectorXd& target, int direction);
/// On everything, as chosen.
[[nodiscard]] Result<Booster> grow(const Dataset& data, const Schema& schema, const Eigen::VectorXd& target,
                                   const Choice& choice);

}  // namespace rubato::predict::trees
