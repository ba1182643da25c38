#include "plan/power_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rubato::plan {
namespace {

// Halvings of an interval of at most some thousand watts, or of a few hundred decades: beyond a double's own
// resolution.
constexpr int kHalvings = 100;

Watts sum_of(const std::vector<Watts>& shares) {
  return std::accumulate(shares.begin(), shares.end(), Watts{});
}

/// Whole watts, rounded down, and what is left over by that to those that lost most.
std::vector<Watts> in_whole_watts(std::span<const BoardRange> boards, const std::vector<Watts>& shares,
                                  Watts budget) {
  std::vector<Watts> out;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < boards.size(); ++i) {
    out.push_back(std::max(boards[i].least, Watts(std::floor(shares[i].value() + 1e-9))));
    order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return shares[a] - out[a] > shares[b] - out[b]; });
  Watts left = budget - sum_of(out);
  for (const std::size_t i : order) {
    const Watts more = out[i] + Watts(1);
    if (left < Watts(1) || more > boards[i].most) continue;
    out[i] = more;
    left -= Watts(1);
  }
  return out;
}

/// `watts_at(board, level)` rises with the level: the highest level between `low` and `high` that the budget
/// pays for.
template <class WattsAt>
std::vector<Watts> filled_to_a_level(std::span<const BoardRange> boards, Watts budget, double low,
                                     double high, const WattsAt& watts_at) {
  const auto shares_at = [&](double level) {
    std::vector<Watts> shares;
    for (std::size_t i = 0; i < boards.size(); ++i)
      shares.push_back(std::clamp(Watts(watts_at(i, level)), boards[i].least, boards[i].most));
    return shares;
  };
  if (sum_of(shares_at(high)) <= budget) return in_whole_watts(boards, shares_at(high), budget);
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (sum_of(shares_at(middle)) <= budget ? low : high) = middle;
  }
  return in_whole_watts(boards, shares_at(low), budget);
}

/// The level at which the board's range ends, above or below.
template <class LevelOf>
std::pair<double, double> levels(std::span<const BoardRange> boards, const LevelOf& level_of) {
  double low = INFINITY;
  double high = -INFINITY;
  for (std::size_t i = 0; i < boards.size(); ++i)
    for (const Watts end : {boards[i].least, boards[i].most}) {
      low = std::min(low, level_of(i, end.value()));
      high = std::max(high, level_of(i, end.value()));
    }
  return {low, high};
}

}  // namespace

Watts sum_of_least(std::span<const BoardRange> boards) {
  Watts sum;
  for (const BoardRange& board : boards) sum += board.least;
  return sum;
}

std::vector<Watts> even_shares(std::span<const BoardRange> boards, Watts budget) {
  const auto [low, high] = levels(boards, [](std::size_t, double watts) { return watts; });
  return filled_to_a_level(boards, budget, low, high, [](std::size_t, double level) { return level; });
}

std::vector<Watts> equal_rate_shares(std::span<const BoardRange> boards, std::span<const BoardCurve> curves,
                                     Watts budget) {
  const auto rate = [&](std::size_t i, double watts) {
    return curves[i].log_rate + curves[i].slope * std::log(watts / curves[i].at.value());
  };
  const auto [low, high] = levels(boards, rate);
  return filled_to_a_level(boards, budget, low, high, [&](std::size_t i, double level) {
    return curves[i].at.value() * std::exp((level - curves[i].log_rate) / curves[i].slope);
  });
}

std::vector<Watts> most_rate_shares(std::span<const BoardRange> boards, std::span<const BoardCurve> curves,
                                    Watts budget) {
  // The logarithm of what the next watt buys, which falls as watts rise.
  const auto buys = [&](std::size_t i, double watts) {
    const BoardCurve& c = curves[i];
    return c.log_rate + std::log(c.slope / c.at.value()) + (c.slope - 1) * std::log(watts / c.at.value());
  };
  const auto [low, high] = levels(boards, [&](std::size_t i, double watts) { return -buys(i, watts); });
  return filled_to_a_level(boards, budget, low, high, [&](std::size_t i, double level) {
    const BoardCurve& c = curves[i];
    const double at_one = c.log_rate + std::log(c.slope / c.at.value());
    return c.at.value() * std::exp((-level - at_one) / (c.slope - 1));
  });
}

}  // namespace rubato::plan
