#include "core/objective.h"

#include <algorithm>

namespace rubato {
namespace {

// Of the board's own draw: what idle may take off.
constexpr double kMostIdle = 0.8;

}  // namespace

Goal beside_all(Goal goal, unsigned gpus) {
  for (auto* beside : {&goal.host_watts, &goal.second, &goal.idle})
    if (*beside) **beside = static_cast<double>(gpus) * **beside;
  return goal;
}

Watts beside_board(const Goal& goal) {
  return goal.host_watts.value_or(Watts{}) + goal.second.value_or(Watts{}) - goal.idle.value_or(Watts{});
}

int delay_exponent(Objective objective) {
  if (objective == Objective::edp) return 1;
  return objective == Objective::ed2p ? 2 : 0;
}

bool adds_up(Objective objective) {
  return objective == Objective::energy || objective == Objective::cost;
}

double share_of_time(const Goal& goal, Watts board) {
  if (!(board > Watts(0))) return 0;
  const Watts beside = std::max(beside_board(goal), Watts(-kMostIdle * board.value()));
  return beside / (board + beside);
}

}  // namespace rubato
