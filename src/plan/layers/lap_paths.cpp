// What a solved lap is made of: its path, and every way on from a place in it.
#include <cmath>

#include "plan/layers/lap_search.h"

namespace rubato::plan {

LapSearch::Path LapSearch::path_from(std::size_t start) const {
  Path path{std::vector<std::size_t>(segments_, start), start};
  std::size_t i = 0;
  std::size_t at = start;
  while (i < segments_) {
    const double stay = cost_[i * stride_ + at] + to_go(i + 1, at);
    std::size_t until = i + 1;
    // Costs that differ by rounding alone are no reason to change.
    double best = stay * (1 - 1e-13);
    std::size_t target = at;
    if (may_change_[i] != 0 && to_go(i, at) < best) {
      for (std::size_t g = groups_of_[at]; g < groups_of_[at + 1]; ++g) {
        const Group& group = groups_[g];
        const double reach = time_before_[of(at) + i] + group.delay;
        const Tail to = tail(i, at, group, last_before(reach, at, i, segments_ - 1));
        if (!to.possible) continue;
        const double before = base(to, group);
        for (std::size_t b = group.begin; b < group.end; ++b) {
          const auto there = free_at(to, group, b);
          if (b == at || !there) continue;
          const double rest = to.rest > 0 ? to.rest * cost_[to.segment * stride_ + b] : 0;
          const double whole = before + rest + cost_between(to.segment + 1, *there, b) + to_go(*there, b);
          if (!(whole < best)) continue;
          best = whole;
          target = b;
          until = *there;
        }
      }
    }
    for (; i < until; ++i) path.setting[segment_of(i)] = target;
    at = target;
  }
  path.end = at;
  return path;
}

void LapSearch::ways_on(std::size_t segment, std::size_t setting, std::vector<Leap>& out) const {
  out.clear();
  const std::size_t at = segment * stride_ + setting;
  if (std::isfinite(energy_[at])) out.push_back({segment + 1, setting, time_[at], energy_[at]});
  if (may_change_[segment] == 0) return;
  for (std::size_t g = groups_of_[setting]; g < groups_of_[setting + 1]; ++g) {
    const Group& group = groups_[g];
    const double reach = time_before_[of(setting) + segment] + group.delay;
    const Tail to = tail(segment, setting, group, last_before(reach, setting, segment, segments_ - 1));
    if (!to.possible) continue;
    for (std::size_t b = group.begin; b < group.end; ++b) {
      if (b == setting) continue;
      const std::size_t k = to.segment * stride_ + b;
      if (to.rest > 0 && !std::isfinite(energy_[k])) continue;
      Leap leap{to.segment + 1, b, group.delay + group.stall, to.energy + stalled_ * group.stall};
      if (to.rest > 0) {
        leap.time += to.rest * time_[k];
        leap.energy += to.rest * energy_[k];
      }
      const auto there = free_at(to, group, b);
      if (!there || std::isinf(cost_between(leap.segment, *there, b))) continue;
      leap.time += time_before_[of(b) + *there] - time_before_[of(b) + leap.segment];
      leap.energy += energy_before_[of(b) + *there] - energy_before_[of(b) + leap.segment];
      leap.segment = *there;
      out.push_back(leap);
    }
  }
}

}  // namespace rubato::plan
