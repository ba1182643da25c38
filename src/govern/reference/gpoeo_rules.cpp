#include "govern/reference/gpoeo_rules.h"

#include <algorithm>
#include <cmath>

#include "govern/reference/cubic_fit.h"

namespace rubato::govern {
namespace {

constexpr double kRoom = 0.8;     // below this share of the bound: only slower gears are looked at
constexpr double kTooSlow = 1.2;  // above it: only faster ones
constexpr double kClearlyBetter = 0.85;
constexpr double kGoodEnough = 0.75;  // of the default's reward: the way down ends
constexpr double kGolden = 0.382;
constexpr std::size_t kNarrow = 7;  // gears
constexpr int kProbes = 6;

std::size_t part(std::size_t span, double share) {
  return static_cast<std::size_t>(std::lround(static_cast<double>(span) * share));
}

struct Bracket {
  std::size_t low = 0;
  std::size_t middle = 0;
  std::size_t high = 0;
};

/// The gear that is missing; nothing: the bracket stands.
std::optional<std::size_t> look_up(Bracket& b, const GearRange& range, const ScoreOf& at, bool& down) {
  while (b.high < range.top) {
    b.high = std::min(b.high + range.radius, range.top);
    const Score* const high = at(b.high);
    if (!high) return b.high;
    if (!better(*high, *at(b.middle))) break;
    if (high->reward < kClearlyBetter * at(b.middle)->reward) {
      b.low = b.middle;
      b.middle = b.high;
      down = false;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> look_down(Bracket& b, const GearRange& range, double bound, const ScoreOf& at) {
  while (b.low > range.lowest) {
    b.low = b.low > range.lowest + range.radius ? b.low - range.radius : range.lowest;
    const Score* const low = at(b.low);
    if (!low) return b.low;
    const Score& middle = *at(b.middle);
    const bool tied = low->feasible && middle.feasible && low->reward <= middle.reward * (1 + range.tie);
    if (!tied && !better(*low, middle)) break;
    if (low->reward < kClearlyBetter * middle.reward) {
      b.high = b.middle;
      b.middle = b.low;
    }
    if (low->loss > bound || low->reward < kGoodEnough) break;
  }
  return std::nullopt;
}

std::optional<std::size_t> golden_section(Bracket& b, const ScoreOf& at) {
  const bool upper_longer = b.high - b.middle > b.middle - b.low;
  b.middle = b.low + part(b.high - b.low, upper_longer ? 1 - kGolden : kGolden);
  if (!at(b.middle)) return b.middle;
  for (int probes = 0; b.high - b.low >= kNarrow && probes < kProbes; ++probes) {
    const bool upper = b.high - b.middle > b.middle - b.low;
    const std::size_t gear =
        upper ? b.middle + part(b.high - b.middle, kGolden) : b.middle - part(b.middle - b.low, kGolden);
    const Score* const probe = at(gear);
    if (!probe) return gear;
    if (better(*probe, *at(b.middle))) {
      (upper ? b.low : b.high) = b.middle;
      b.middle = gear;
    } else {
      (upper ? b.high : b.low) = gear;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> next_memory_gear(std::size_t start, std::size_t count, double bound,
                                            const ScoreOf& at) {
  const Score* const first = at(start);
  if (!first) return start;
  std::vector<std::size_t> tries;
  const auto add = [&](std::size_t gear) {
    if (gear < count && gear != start) tries.push_back(gear);
  };
  const std::size_t top = count - 1;
  if (first->loss >= kTooSlow * bound) {
    add(start + 2);
    add(start + 1);
  } else if (start == top) {
    if (top >= 1) add(top - 1);
    if (top >= 2) add(top - 2);
  } else if (start == 0) {
    add(2);
    add(1);
  } else {
    add(start + 1);
    add(start - 1);
  }
  for (const std::size_t gear : tries) {
    const Score* const score = at(gear);
    if (!score) return gear;
    if (0.9 * (1 + score->loss) - 1 > bound) break;
  }
  return std::nullopt;
}

std::optional<std::size_t> next_clock_gear(std::size_t start, const GearRange& range, double bound,
                                           const ScoreOf& at) {
  const Score* const first = at(start);
  if (!first) return start;
  Bracket b{start, start, start};
  bool down = first->loss <= kTooSlow * bound;
  if (first->loss >= kRoom * bound)
    if (const auto missing = look_up(b, range, at, down)) return missing;
  if (down)
    if (const auto missing = look_down(b, range, bound, at)) return missing;
  return golden_section(b, at);
}

std::size_t bracket_radius(std::size_t gears, bool memory_lowered) {
  return std::max<std::size_t>(1, part(gears, memory_lowered ? 0.15 : 0.10));
}

std::size_t smoothed_choice(const std::vector<MeasuredGear>& measured, const Scale& scale) {
  std::vector<double> gears;
  std::vector<double> times;
  std::vector<double> energies;
  for (const MeasuredGear& m : measured) {
    gears.push_back(static_cast<double>(m.gear));
    times.push_back(m.cost.time.value());
    energies.push_back(m.cost.energy->value());
  }
  const CubicFit time(gears, times);
  const CubicFit energy(gears, energies);
  const auto ends = std::minmax_element(measured.begin(), measured.end(),
                                        [](const auto& a, const auto& b) { return a.gear < b.gear; });
  const std::size_t lowest = ends.first->gear;
  const std::size_t highest = ends.second->gear;
  std::vector<Score> scores;
  for (std::size_t g = lowest; g <= highest; ++g) {
    const auto x = static_cast<double>(g);
    scores.push_back(scale.of(Seconds(time.at(x)), Joules(energy.at(x))));
  }
  const auto best = best_of(scores);
  return best ? lowest + *best : highest;
}

}  // namespace rubato::govern
