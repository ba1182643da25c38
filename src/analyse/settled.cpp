#include <algorithm>

#include "analyse/compare.h"
#include "analyse/judged.h"
#include "analyse/stretch.h"
#include "base/text.h"

namespace rubato::analyse {

SettledCost settled_cost(const record::RunRecord& run) {
  std::vector<Stretch> usable;
  bool iterations = false;
  bool held = false;
  for (const Stretch& s : stretches_of(run)) {
    if (s.iterations == 0 || s.duration() <= Seconds(0) || s.role == BlockRole::warmup) continue;
    iterations = true;
    if (!s.energy || *s.energy <= Joules(0)) continue;
    held = held || s.role == BlockRole::hold;
    usable.push_back(s);
  }
  std::erase_if(usable, [held](const Stretch& s) {
    return held ? s.role != BlockRole::hold : s.role == BlockRole::trial;
  });
  // Of one setting: the found one where any was seen at it, else what somebody else set first.
  const bool found = std::ranges::any_of(usable, [](const Stretch& s) { return !at_their_setting(s); });
  const Setting wanted = found || usable.empty() ? Setting{} : usable.front().setting;
  std::erase_if(usable, [&](const Stretch& s) { return at_their_setting(s) && s.setting != wanted; });
  SettledCost settled;
  if (!usable.empty()) {
    settled.cost = cost_per_iteration(run, sources_of(run), usable);
    settled.setting = usable.front().setting;
  } else {
    settled.why_not = iterations               ? "the energy of a GPU could not be read"
                      : run.iterations.empty() ? "no iterations were seen"
                                               : "no whole iterations ran after the warm-up";
  }
  return settled;
}

}  // namespace rubato::analyse
