#include "plan/knob_space.h"

#include <algorithm>
#include <cmath>

namespace rubato::plan {
namespace {

void put(predict::KnobPoint& point, Knob knob, double value) {
  switch (knob) {
    case Knob::power_limit:
      point.power_limit = Watts(value);
      return;
    case Knob::sm_clock:
      point.sm_clock = Megahertz(value);
      return;
    case Knob::memory_clock:
      point.memory_clock = Megahertz(value);
      return;
    case Knob::application_clocks:
      return;  // two clocks at once: no axis
  }
}

double value_of(const predict::KnobPoint& point, const KnobAxis& axis) {
  const double highest = axis.values.back();
  switch (axis.knob) {
    case Knob::power_limit:
      return point.power_limit ? point.power_limit->value() : highest;
    case Knob::sm_clock:
      return point.sm_clock ? point.sm_clock->value() : highest;
    case Knob::memory_clock:
      return point.memory_clock ? point.memory_clock->value() : highest;
    case Knob::application_clocks:
      break;
  }
  return highest;
}

std::size_t nearest(const std::vector<double>& values, double value) {
  const auto above = std::lower_bound(values.begin(), values.end(), value);
  if (above == values.begin()) return 0;
  if (above == values.end()) return values.size() - 1;
  const auto i = static_cast<std::size_t>(above - values.begin());
  return value - values[i - 1] < values[i] - value ? i - 1 : i;
}

/// Positions on an axis, ascending: `most` of them at most, but never fewer than two.
std::vector<std::size_t> thinned(const KnobAxis& axis, std::size_t most, std::size_t found) {
  const std::size_t n = axis.values.size();
  std::vector<std::size_t> out;
  if (n <= most) {
    for (std::size_t i = 0; i < n; ++i) out.push_back(i);
    return out;
  }
  const std::size_t kept = std::max<std::size_t>(most, 2);
  for (std::size_t i = 0; i < kept; ++i) out.push_back(i * (n - 1) / (kept - 1));
  if (std::find(out.begin(), out.end(), found) == out.end()) {
    // In place of the nearest that is no end.
    std::size_t best = 1;
    const auto away = [&](std::size_t i) { return out[i] > found ? out[i] - found : found - out[i]; };
    for (std::size_t i = 1; i + 1 < out.size(); ++i)
      if (away(i) < away(best)) best = i;
    if (out.size() > 2) out[best] = found;
    std::sort(out.begin(), out.end());
  }
  return out;
}

}  // namespace

predict::KnobPoint point_at(const KnobSpace& space, const Position& position) {
  predict::KnobPoint out;
  for (std::size_t a = 0; a < space.axes.size(); ++a)
    put(out, space.axes[a].knob, space.axes[a].values[position[a]]);
  return out;
}

Position position_of(const KnobSpace& space, const predict::KnobPoint& point) {
  Position out;
  for (const KnobAxis& axis : space.axes) out.push_back(nearest(axis.values, value_of(point, axis)));
  return out;
}

std::vector<predict::KnobPoint> candidates(const KnobSpace& space, std::size_t most) {
  if (space.axes.empty()) return {};
  const Position found = position_of(space, space.found);
  // Short axes stay whole; what they leave is shared by the longer ones.
  std::vector<std::size_t> order(space.axes.size());
  for (std::size_t a = 0; a < order.size(); ++a) order[a] = a;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return space.axes[a].values.size() < space.axes[b].values.size();
  });
  std::vector<std::vector<std::size_t>> kept(space.axes.size());
  // No product of axes is near this; a size_t can hold it.
  double left = std::min(static_cast<double>(most), 1e15);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto share =
        static_cast<std::size_t>(std::pow(left, 1.0 / static_cast<double>(order.size() - i)) + 1e-9);
    kept[order[i]] = thinned(space.axes[order[i]], share, found[order[i]]);
    left /= static_cast<double>(kept[order[i]].size());
  }
  std::vector<predict::KnobPoint> out;
  Position digits(space.axes.size(), 0);
  for (;;) {
    Position at(space.axes.size());
    for (std::size_t a = 0; a < at.size(); ++a) at[a] = kept[a][digits[a]];
    out.push_back(point_at(space, at));
    std::size_t a = space.axes.size();
    while (a > 0 && ++digits[a - 1] == kept[a - 1].size()) digits[--a] = 0;
    if (a == 0) return out;
  }
}

}  // namespace rubato::plan
