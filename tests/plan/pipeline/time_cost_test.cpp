#include "plan/pipeline/time_cost.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

namespace rubato::plan {
namespace {

/// Activities one after another or beside each other: `after` lists pairs of activities.
Project project_of(std::vector<std::vector<Pace>> curves,
                   const std::vector<std::pair<std::size_t, std::size_t>>& after) {
  Project made;
  made.curves = std::move(curves);
  made.events = 2 + 2 * made.curves.size();
  for (std::size_t i = 0; i < made.curves.size(); ++i) {
    made.activities.push_back({2 + 2 * i, 3 + 2 * i, i});
    made.order.emplace_back(0, 2 + 2 * i);
    made.order.emplace_back(3 + 2 * i, 1);
  }
  for (const auto& [first, second] : after) made.order.emplace_back(3 + 2 * first, 2 + 2 * second);
  return made;
}

/// What it costs to be shorter than the longest duration.
CostPerTick cost_of(const std::vector<Pace>& curve, Ticks duration) {
  CostPerTick cost = 0;
  for (std::size_t i = 0; i + 1 < curve.size(); ++i)
    cost +=
        curve[i].price * std::max(Ticks{0}, curve[i].duration - std::max(duration, curve[i + 1].duration));
  return cost;
}

CostPerTick cost_of(const Project& project, const TimeCost& solved) {
  CostPerTick cost = 0;
  for (std::size_t i = 0; i < project.activities.size(); ++i)
    cost += cost_of(project.curves[i], solved.duration(i));
  return cost;
}

/// Every combination of whole durations: the least cost of each total time or less.
std::map<Ticks, CostPerTick> by_hand(const Project& project,
                                     const std::vector<std::pair<std::size_t, std::size_t>>& after) {
  std::map<Ticks, CostPerTick> least;
  const std::size_t count = project.curves.size();
  std::vector<Ticks> taken;
  for (const auto& curve : project.curves) taken.push_back(curve.back().duration);
  while (true) {
    std::vector<Ticks> begin(count);
    Ticks total = 0;
    CostPerTick cost = 0;
    for (std::size_t i = 0; i < count; ++i) {
      for (const auto& [first, second] : after)
        if (second == i) begin[i] = std::max(begin[i], begin[first] + taken[first]);
      total = std::max(total, begin[i] + taken[i]);
      cost += cost_of(project.curves[i], taken[i]);
    }
    const auto [at, added] = least.try_emplace(total, cost);
    if (!added) at->second = std::min(at->second, cost);
    std::size_t digit = 0;
    while (digit < count && ++taken[digit] > project.curves[digit].front().duration) {
      taken[digit] = project.curves[digit].back().duration;
      ++digit;
    }
    if (digit == count) break;
  }
  CostPerTick best = std::numeric_limits<CostPerTick>::max();
  for (auto& [total, cost] : least) cost = best = std::min(best, cost);
  return least;
}

TEST(TimeCost, BeginsAtTheLongestAndEndsAtTheShortest) {
  const Project project = project_of({{{5, 3}, {2, 0}}, {{4, 1}, {3, 0}}}, {{0, 1}});
  TimeCost solved(project);
  EXPECT_EQ(solved.time(), 9);
  EXPECT_EQ(solved.price(), 1);
  solved.shorten_to(0);
  EXPECT_TRUE(solved.shortest());
  EXPECT_EQ(solved.time(), 5);
}

TEST(TimeCost, TheCheaperActivityOfAChainIsShortenedFirst) {
  const Project project = project_of({{{5, 3}, {2, 0}}, {{4, 1}, {3, 0}}}, {{0, 1}});
  TimeCost solved(project);
  solved.shorten_to(8);
  EXPECT_EQ(solved.duration(0), 5);
  EXPECT_EQ(solved.duration(1), 3);
  EXPECT_EQ(solved.price(), 3);
  solved.shorten_to(7);
  EXPECT_EQ(solved.duration(0), 4);
}

TEST(TimeCost, WhatIsNotCriticalStaysSlow) {
  const Project project = project_of({{{5, 3}, {2, 0}}, {{4, 1}, {1, 0}}}, {});
  TimeCost solved(project);
  solved.shorten_to(4);
  EXPECT_EQ(solved.duration(0), 4);
  EXPECT_EQ(solved.duration(1), 4);
  EXPECT_EQ(solved.price(), 4);  // both, from here on
}

TEST(TimeCost, ACutMaySlowOneDownWhileItHurriesOthers) {
  // 0 → 1 → 3 and 2 → 3 and 0 → 4: hurrying 0 and 3 makes room for 1, which both hurry for.
  const std::vector<std::pair<std::size_t, std::size_t>> after{{0, 1}, {1, 3}, {2, 3}, {0, 4}};
  const Project project = project_of(
      {{{4, 5}, {2, 0}}, {{4, 2}, {2, 0}}, {{8, 4}, {4, 0}}, {{4, 5}, {2, 0}}, {{8, 4}, {4, 0}}}, after);
  TimeCost solved(project);
  for (const auto& least = by_hand(project, after); Ticks time : {12, 11, 10, 9, 8}) {
    solved.shorten_to(time);
    EXPECT_EQ(cost_of(project, solved), least.at(time)) << time;
  }
}

TEST(TimeCost, StopsWhereATickLessCostsAsMuchAsItIsWorth) {
  const Project project = project_of({{{5, 3}, {4, 7}, {2, 0}}}, {});
  TimeCost solved(project);
  solved.shorten_below(7);
  EXPECT_EQ(solved.time(), 4);
  EXPECT_EQ(solved.price(), 7);
}

RC_GTEST_PROP(TimeCost, IsAsCheapAsTheBestOfAllCombinationsAtEveryTime, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 6);
  std::vector<std::vector<Pace>> curves;
  for (std::size_t i = 0; i < count; ++i) {
    Ticks duration = *rc::gen::inRange<Ticks>(1, 3);
    CostPerTick price = *rc::gen::inRange<CostPerTick>(8, 20);
    std::vector<Pace> curve{{duration, 0}};
    for (auto left = *rc::gen::inRange(0, 3); left > 0; --left) {
      duration += *rc::gen::inRange<Ticks>(1, 3);
      curve.insert(curve.begin(), {duration, price});
      price -= *rc::gen::inRange<CostPerTick>(1, 4);
    }
    curves.push_back(curve);
  }
  std::vector<std::pair<std::size_t, std::size_t>> after;
  for (std::size_t first = 0; first < count; ++first)
    for (std::size_t second = first + 1; second < count; ++second)
      if (*rc::gen::arbitrary<bool>()) after.emplace_back(first, second);
  const Project project = project_of(curves, after);
  const auto least = by_hand(project, after);

  TimeCost solved(project);
  RC_ASSERT(solved.time() == least.rbegin()->first);
  const Ticks shortest = least.begin()->first;
  CostPerTick before = cost_of(project, solved);
  CostPerTick slope = 0;
  for (Ticks time = solved.time(); time >= shortest; --time) {
    solved.shorten_to(time);
    RC_ASSERT(solved.time() == time);
    const CostPerTick cost = cost_of(project, solved);
    RC_ASSERT(cost == std::prev(least.upper_bound(time))->second);
    RC_ASSERT(cost - before >= slope);  // convex
    slope = cost - before;
    before = cost;
    for (std::size_t i = 0; i < count; ++i) {
      RC_ASSERT(solved.duration(i) >= curves[i].back().duration);
      RC_ASSERT(solved.duration(i) <= curves[i].front().duration);
      RC_ASSERT(solved.moment(3 + 2 * i) - solved.moment(2 + 2 * i) >= solved.duration(i));
    }
  }
  solved.shorten_to(0);
  RC_ASSERT(solved.time() == shortest);
  RC_ASSERT(solved.shortest());
}

}  // namespace
}  // namespace rubato::plan
