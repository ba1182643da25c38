// That what LapSearch passes over could not have been cheaper: its costs against those of looking at every
// way.
#include "plan/layers/lap_search.h"

#include <gtest/gtest.h>

#include "plan/layers/tables.h"

namespace rubato::plan {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Size {
  std::size_t segments;
  std::size_t settings;
};

SegmentTable blocks(Random& random, const Size& size, bool holes) {
  std::vector<std::pair<double, double>> costs;
  double share = 0.5;
  for (std::size_t i = 0; i < size.segments; ++i) {
    if (random.index(15) == 0) share = random.uniform();
    const double length = random.uniform(0.0002, 0.002);
    for (std::size_t a = 0; a < size.settings; ++a) {
      const double clock = 1 - 0.6 * static_cast<double>(a) / static_cast<double>(size.settings);
      const double time = length * (share / clock + 1 - share);
      const bool hole = holes && a > 0 && random.index(25) == 0;
      costs.emplace_back(time, hole ? kInfinite : time * (40 + 160 * clock * clock * clock));
    }
  }
  return table_of(size.settings, costs);
}

Switching by_pair(Random& random, std::size_t settings, double longest, Seconds dwell) {
  Switching out = same_for_all(settings, 0_s, 0_s, dwell);
  for (Seconds& delay : out.delay)
    delay = Seconds(random.uniform(random.index(4) == 0 ? 0 : 0.2, 1) * longest);
  for (Seconds& stall : out.stall) stall = Seconds(random.index(3) == 0 ? random.uniform(0, 0.001) : 0);
  return out;
}

/// By every way on that a lap has, backwards.
std::vector<double> by_every_way(const LapSearch& lap, const Weights& weights,
                                 std::optional<std::size_t> end) {
  std::vector<double> to_go((lap.segments() + 1) * lap.stride(), kInfinite);
  for (std::size_t a = 0; a < lap.settings(); ++a)
    if (!end || *end == a) to_go[lap.segments() * lap.stride() + a] = 0;
  std::vector<LapSearch::Leap> ways;
  for (std::size_t i = lap.segments(); i-- > 0;)
    for (std::size_t a = 0; a < lap.settings(); ++a) {
      double& least = to_go[i * lap.stride() + a];
      lap.ways_on(i, a, ways);
      for (const LapSearch::Leap& way : ways)
        least = std::min(least, weights.energy * way.energy + weights.time * way.time +
                                    to_go[way.segment * lap.stride() + way.setting]);
    }
  return to_go;
}

/// The largest share by which they differ.
double apart(const LapSearch& lap, const std::vector<double>& expected) {
  double most = 0;
  for (std::size_t i = 0; i <= lap.segments(); ++i)
    for (std::size_t a = 0; a < lap.settings(); ++a) {
      const double one = lap.to_go(i, a);
      const double other = expected[i * lap.stride() + a];
      if (one != other) most = std::max(most, std::abs(one - other) / other);
      if (std::isfinite(one) != std::isfinite(other)) most = kInfinite;
    }
  return most;
}

void compare(Random& random, const Size& size, int cases) {
  for (int i = 0; i < cases; ++i) {
    const SegmentTable table = blocks(random, size, random.index(3) == 0);
    const Seconds dwell(random.index(2) == 0 ? 0 : random.uniform(0, 0.02));
    const Switching switching = by_pair(random, size.settings, random.uniform(0.0005, 0.03), dwell);
    std::vector<bool> may_change(size.segments);
    const bool everywhere = random.index(2) == 0;
    for (std::size_t s = 0; s < size.segments; ++s) may_change[s] = everywhere || random.index(3) == 0;
    LapSearch lap(table, switching, Watts(random.uniform(0, 50)), may_change, random.index(size.segments));
    const Weights weights{1, random.uniform(0, 300)};
    std::optional<std::size_t> end;
    if (random.index(2) == 0) end = random.index(size.settings);
    lap.solve(weights, end);
    EXPECT_LT(apart(lap, by_every_way(lap, weights, end)), 1e-9) << "case " << i;
  }
}

TEST(LapSearch, WhatItPassesOverIsNoCheaper) {
  Random random(11);
  compare(random, {40, 6}, 300);
  compare(random, {120, 14}, 40);
}

// Beyond this size the dwell is counted to the end of a segment: another way through the same code.
TEST(LapSearch, WhatItPassesOverInLargeTablesIsNoCheaper) {
  Random random(12);
  compare(random, {400, 20}, 8);
}

TEST(LapSearch, WithOneDelayForAllItLooksAtAllTargetsTogether) {
  Random random(13);
  for (int i = 0; i < 60; ++i) {
    const SegmentTable table = blocks(random, {60, 9}, i % 3 == 0);
    const Seconds delay(i % 4 == 0 ? 0 : random.uniform(0, 0.01));
    LapSearch lap(table, same_for_all(9, delay, 1_ms * (i % 2), delay * 1.5), 0_W,
                  std::vector<bool>(60, true), 0);
    const Weights weights{1, random.uniform(0, 300)};
    lap.solve(weights, std::nullopt);
    EXPECT_LT(apart(lap, by_every_way(lap, weights, std::nullopt)), 1e-9) << "case " << i;
  }
}

}  // namespace
}  // namespace rubato::plan
