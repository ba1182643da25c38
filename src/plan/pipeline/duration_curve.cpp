#include "plan/pipeline/duration_curve.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace rubato::plan {
namespace {

// A gigawatt: two measurements that lie that close in time are not told apart by it.
constexpr CostPerTick kHighestPrice = static_cast<CostPerTick>(1e9 * kPricesPerWatt);

/// Joules that a tick less than `slow` costs on the way to `fast`.
double steepness(const ClockOption& slow, const ClockOption& fast) {
  return (fast.effective - slow.effective).value() / static_cast<double>(slow.ticks - fast.ticks);
}

std::vector<ClockOption> convex_edge(const std::vector<ClockOption>& fastest_first) {
  std::vector<ClockOption> edge;
  for (auto next = fastest_first.rbegin(); next != fastest_first.rend(); ++next) {
    while (edge.size() > 1 &&
           steepness(edge[edge.size() - 2], *next) <= steepness(edge[edge.size() - 2], edge.back()))
      edge.pop_back();
    edge.push_back(*next);
  }
  return edge;
}

}  // namespace

Ticks TickRule::of(Seconds time) const {
  const double ticks = time / tick;
  // What is a whole number of ticks but for the last bits is that number.
  constexpr double kSame = 1e-6;
  return static_cast<Ticks>(floored ? std::floor(ticks + kSame) : std::ceil(ticks - kSame));
}

Joules DurationCurve::effective(Ticks ticks) const {
  auto fast = std::find_if(corners.begin(), corners.end(), [&](const auto& c) { return c.ticks <= ticks; });
  if (fast == corners.end()) return corners.back().effective;
  if (fast == corners.begin() || fast->ticks == ticks) return fast->effective;
  const ClockOption& slow = *(fast - 1);
  return slow.effective + Joules(steepness(slow, *fast) * static_cast<double>(slow.ticks - ticks));
}

Result<DurationCurve> duration_curve(const std::vector<StageOption>& options, Watts blocking,
                                     const TickRule& rule, const std::string& who) {
  std::vector<ClockOption> all;
  for (const StageOption& option : options) {
    if (option.energy < blocking * option.time)
      return fail(ErrorCode::invalid_argument,
                  cat(who, " at ", option.frequency, " draws ", option.energy / option.time,
                      ", less than the ", blocking, " of a stage that waits"),
                  "--blocking-power W: what one GPU draws while it waits for its neighbours");
    const Ticks ticks = rule.of(option.time);
    if (ticks < 1)
      return fail(ErrorCode::invalid_argument,
                  cat(who, " at ", option.frequency, " takes ", number(1e3 * option.time.value(), 3),
                      " ms, less than the time unit of ", number(1e3 * rule.tick.value(), 6), " ms"),
                  "a smaller --time-unit, or none for exact times");
    all.push_back({option, ticks, option.energy - blocking * rule.seconds(ticks)});
  }
  const auto worth = [&](const ClockOption& o) { return o.measured.energy - blocking * o.measured.time; };
  std::sort(all.begin(), all.end(), [&](const ClockOption& a, const ClockOption& b) {
    return a.measured.time != b.measured.time ? a.measured.time < b.measured.time : worth(a) < worth(b);
  });
  DurationCurve curve;
  Joules least{};
  for (const ClockOption& option : all) {
    if (!curve.options.empty() && worth(option) >= least) {
      ++curve.dropped;
      continue;
    }
    least = worth(option);
    if (curve.options.empty() || curve.options.back().ticks != option.ticks) curve.options.push_back(option);
  }
  // Counted in ticks, a slower one may have come to cost more.
  std::vector<ClockOption> falling;
  for (const ClockOption& option : curve.options)
    if (falling.empty() || option.effective < falling.back().effective) falling.push_back(option);
  curve.corners = convex_edge(falling);
  return curve;
}

std::vector<Pace> paces_of(const DurationCurve& curve, const TickRule& rule) {
  std::vector<Pace> paces;
  for (std::size_t i = 0; i < curve.corners.size(); ++i) {
    CostPerTick price = 0;
    if (const bool last = i + 1 == curve.corners.size(); !last) {
      const double watts = steepness(curve.corners[i], curve.corners[i + 1]) / rule.tick.value();
      price = static_cast<CostPerTick>(
          std::llround(std::min(watts * kPricesPerWatt, static_cast<double>(kHighestPrice))));
      // Two stretches of one price are one stretch.
      if (price <= (paces.empty() ? 0 : paces.back().price)) continue;
    }
    paces.push_back({curve.corners[i].ticks, price});
  }
  return paces;
}

}  // namespace rubato::plan
