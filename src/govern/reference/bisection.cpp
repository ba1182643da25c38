#include "govern/reference/bisection.h"

#include <vector>

#include "base/text.h"

namespace rubato::govern {

SearchStep Bisection::next(std::span<const TrialResult> seen) {
  const Scale scale(aim_, seen[0].cost);
  // In gears below the found one: `holds` is inside the bound, `breaks` outside or past the lowest gear.
  std::size_t holds = 0;
  std::size_t breaks = gears_.found() + 1;
  std::vector<Score> scores{scale.of(seen[0].cost)};
  while (breaks - holds > 1 && scores.size() <= options_.tries) {
    const std::size_t middle = (holds + breaks) / 2;
    const std::size_t gear = gears_.found() - middle;
    if (scores.size() == seen.size())
      return gears_.measure(
          gear, options_.trial,
          cat("bisection: the middle of what holds and what breaks the bound, ", gears_.text(gear)));
    scores.push_back(scale.of(seen[scores.size()].cost));
    (scores.back().feasible ? holds : breaks) = middle;
  }
  const TrialResult& best = seen[best_of(scores).value_or(0)];
  const std::size_t gear = best.found ? gears_.found() : gears_.of(best.at);
  return gears_.hold(gear, cat("bisection: the best of ", seen.size() - 1, " tries inside the bound"));
}

}  // namespace rubato::govern
