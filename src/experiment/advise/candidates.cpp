#include "experiment/advise/candidates.h"

#include <algorithm>
#include <cmath>

namespace rubato::experiment {
namespace {

constexpr std::size_t kMostOfOneKnob = 100;

// Ends stay; what lies between is taken at equal distances.
template <class T>
std::vector<T> thinned(const std::vector<T>& values, std::size_t most) {
  if (values.size() <= most || most < 2) return values;
  std::vector<T> out;
  for (std::size_t k = 0; k < most; ++k) out.push_back(values[k * (values.size() - 1) / (most - 1)]);
  return out;
}

std::vector<Watts> limits_of(const PowerLimits& limits) {
  // 5 W is finer than any model tells, and a number people can remember.
  constexpr double kStep = 5;
  std::vector<Watts> out = {limits.min};
  const double first = (std::floor(limits.min.value() / kStep) + 1) * kStep;
  for (int i = 0; first + i * kStep <= limits.requested.value() + 1e-9; ++i)
    out.emplace_back(first + i * kStep);
  return out;
}

std::vector<Megahertz> sorted(std::vector<Megahertz> clocks) {
  std::sort(clocks.begin(), clocks.end());
  clocks.erase(std::unique(clocks.begin(), clocks.end()), clocks.end());
  return clocks;
}

template <class T, class Set>
void multiply(std::vector<predict::KnobPoint>& points, const std::vector<T>& values, Set set) {
  std::vector<predict::KnobPoint> out;
  for (const predict::KnobPoint& point : points)
    for (const T& value : values) {
      out.push_back(point);
      set(out.back(), value);
    }
  points = std::move(out);
}

}  // namespace

std::vector<predict::KnobPoint> candidates(const CandidateRanges& ranges, std::span<const Knob> knobs) {
  const auto wants = [&](Knob knob) { return std::find(knobs.begin(), knobs.end(), knob) != knobs.end(); };
  std::vector<Watts> limits;
  std::vector<Megahertz> sm;
  std::vector<Megahertz> memory;
  if (wants(Knob::power_limit)) limits = limits_of(ranges.limits);
  if (wants(Knob::sm_clock)) sm = sorted(ranges.sm_clocks);
  if (wants(Knob::memory_clock)) memory = sorted(ranges.memory_clocks);
  std::size_t room = kMostCandidates;
  if (!memory.empty()) {
    memory = thinned(memory, 4);
    room /= memory.size();
  }
  if (!limits.empty() && !sm.empty()) {
    const auto each = static_cast<std::size_t>(std::sqrt(static_cast<double>(room)));
    limits = thinned(limits, each);
    sm = thinned(sm, room / limits.size());
  } else {
    limits = thinned(limits, std::min(room, kMostOfOneKnob));
    sm = thinned(sm, std::min(room, kMostOfOneKnob));
  }
  if (limits.empty() && sm.empty() && memory.empty()) return {};
  std::vector<predict::KnobPoint> points(1);
  if (!limits.empty()) multiply(points, limits, [](auto& p, Watts w) { p.power_limit = w; });
  if (!sm.empty()) multiply(points, sm, [](auto& p, Megahertz f) { p.sm_clock = f; });
  if (!memory.empty()) multiply(points, memory, [](auto& p, Megahertz f) { p.memory_clock = f; });
  return points;
}

}  // namespace rubato::experiment
