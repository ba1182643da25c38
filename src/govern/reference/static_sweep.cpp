#include "govern/reference/static_sweep.h"

#include <algorithm>

#include "base/text.h"

namespace rubato::govern {

StaticSweep::StaticSweep(StaticSweepOptions options, const plan::KnobSpace& space, const Aim& aim)
    : options_(options), aim_(aim) {
  const plan::Position found = plan::position_of(space, space.found);
  tries_ = plan::candidates(space, options_.most);
  std::erase_if(tries_, [&](const auto& at) { return plan::position_of(space, at) == found; });
  std::reverse(tries_.begin(), tries_.end());
}

SearchStep StaticSweep::next(std::span<const TrialResult> seen) {
  const std::size_t done = seen.size() - 1;
  if (done < tries_.size())
    return {SearchStep::Kind::measure, tries_[done], false, options_.length,
            cat("sweep: ", done + 1, " of ", tries_.size())};
  const Scale scale(aim_, seen[0].cost);
  std::vector<Score> scores;
  for (const TrialResult& result : seen) scores.push_back(scale.of(result.cost));
  const std::size_t best = best_of(scores).value_or(0);
  return {SearchStep::Kind::hold,
          seen[best].at,
          seen[best].found,
          {},
          cat("the best of ", seen.size(), " settings inside the bound")};
}

}  // namespace rubato::govern
