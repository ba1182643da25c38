#include "plan/layers/label_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rubato::plan {
namespace {

constexpr double kRounding = 1e-12;
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

struct Label {
  double time = 0;
  double energy = 0;
  std::size_t segment = 0;
  std::size_t setting = 0;
  std::size_t before = kNone;
};

/// Labels at one place, the slower the cheaper; what another one beats in both is thrown away.
void keep_front(std::vector<std::size_t>& place, const std::vector<Label>& all) {
  std::sort(place.begin(), place.end(), [&](std::size_t a, std::size_t b) {
    return all[a].time != all[b].time ? all[a].time < all[b].time : all[a].energy < all[b].energy;
  });
  double least = std::numeric_limits<double>::infinity();
  std::erase_if(place, [&](std::size_t k) {
    if (all[k].energy >= least) return true;
    least = all[k].energy;
    return false;
  });
}

std::vector<std::size_t> walk_back(const LapSearch& lap, const std::vector<Label>& all, std::size_t last) {
  std::vector<std::size_t> out(lap.segments());
  for (std::size_t k = last; all[k].before != kNone; k = all[k].before)
    for (std::size_t i = all[all[k].before].segment; i < all[k].segment; ++i)
      out[lap.segment_of(i)] = all[k].setting;
  return out;
}

}  // namespace

LabelAnswer label_search(const LapSearch& lap, std::optional<std::size_t> end, const LabelBounds& bounds,
                         std::size_t& work) {
  const std::size_t stride = lap.stride();
  const double budget = bounds.budget * (1 + kRounding);
  LabelAnswer answer{.complete = true, .setting = {}, .energy = bounds.below};
  const std::size_t start = end.value_or(0);
  std::vector<Label> all = {{0, 0, 0, start, kNone}};
  std::vector<std::vector<std::size_t>> places((lap.segments() + 1) * stride);
  places[start] = {0};
  std::vector<LapSearch::Leap> ways;
  for (std::size_t i = 0; i < lap.segments(); ++i)
    for (std::size_t a = 0; a < lap.settings(); ++a) {
      std::vector<std::size_t>& here = places[i * stride + a];
      if (here.empty()) continue;
      keep_front(here, all);
      lap.ways_on(i, a, ways);
      for (const std::size_t k : here)
        for (const LapSearch::Leap& way : ways) {
          const double time = all[k].time + way.time;
          const double energy = all[k].energy + way.energy;
          const std::size_t there = way.segment * stride + way.setting;
          const double least = energy + bounds.to_go[there] + bounds.price * (time - bounds.budget);
          if (!(least < answer.energy * (1 - kRounding)) || !(time + bounds.quickest[there] <= budget))
            continue;
          if (work == 0) return {false, std::move(answer.setting), answer.energy};
          --work;
          places[there].push_back(all.size());
          all.push_back({time, energy, way.segment, way.setting, k});
        }
      here = {};
    }
  // No label gets here whose end is not allowed: the bound of a forbidden end is infinite.
  std::optional<std::size_t> last;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (all[k].segment != lap.segments() || !(all[k].energy < answer.energy)) continue;
    answer.energy = all[k].energy;
    last = k;
  }
  if (last) answer.setting = walk_back(lap, all, *last);
  return answer;
}

}  // namespace rubato::plan
