#include "plan/search_candidates.h"

#include <set>
#include <utility>

namespace rubato::plan {

std::vector<predict::KnobPoint> search_candidates(const KnobSpace& space, std::size_t most) {
  double product = 1;
  for (const KnobAxis& axis : space.axes) product *= static_cast<double>(axis.values.size());
  if (space.axes.size() < 2 || product <= static_cast<double>(most)) return candidates(space, most);
  const Position found = position_of(space, space.found);
  std::set<Position> kept;
  for (std::size_t a = 0; a < space.axes.size(); ++a) {
    const KnobSpace alone{
        .gpu = space.gpu, .axes = {space.axes[a]}, .found = space.found, .highest = space.highest};
    for (const predict::KnobPoint& point : candidates(alone, most / 2 / space.axes.size())) {
      Position at = found;
      at[a] = position_of(alone, point).front();
      kept.insert(std::move(at));
    }
  }
  for (const predict::KnobPoint& point : candidates(space, most - kept.size()))
    kept.insert(position_of(space, point));
  std::vector<predict::KnobPoint> out;
  out.reserve(kept.size());
  for (const Position& at : kept) out.push_back(point_at(space, at));
  return out;
}

}  // namespace rubato::plan
