#include "govern/reference/score.h"

#include <cmath>

namespace rubato::govern {

Aim aim_of(const Goal& goal) {
  return {
      .time_power = delay_exponent(goal.objective), .beside = beside_board(goal), .bound = goal.max_slowdown};
}

bool better(const Score& a, const Score& b) {
  if (a.feasible != b.feasible) return a.feasible;
  return a.feasible ? a.reward < b.reward : a.loss < b.loss;
}

std::optional<std::size_t> best_of(std::span<const Score> scores) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (scores[i].feasible && (!best || scores[i].reward < scores[*best].reward)) best = i;
  return best;
}

Score Scale::of(Seconds time, Joules energy) const {
  const double slower = time / baseline_.time;
  const Joules all = energy + aim_.beside * time;
  const Joules before = *baseline_.energy + aim_.beside * baseline_.time;
  Score out{.loss = slower - 1, .reward = all / before * std::pow(slower, aim_.time_power), .feasible = true};
  out.feasible = out.loss <= aim_.bound;
  return out;
}

}  // namespace rubato::govern
