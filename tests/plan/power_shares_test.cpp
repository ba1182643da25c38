#include "plan/power_shares.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

namespace rubato::plan {
namespace {

using testing::ElementsAre;

Watts sum_of(const std::vector<Watts>& shares) {
  return std::accumulate(shares.begin(), shares.end(), Watts{});
}

const std::vector<BoardRange> kThree = {{100_W, 250_W}, {100_W, 250_W}, {150_W, 300_W}};

TEST(PowerShares, EvenSharesAreEvenWhereRangesAllowIt) {
  EXPECT_EQ(sum_of_least(kThree), 350_W);
  EXPECT_THAT(even_shares(kThree, 600_W), ElementsAre(200_W, 200_W, 200_W));
  EXPECT_THAT(even_shares(kThree, 400_W), ElementsAre(125_W, 125_W, 150_W));
  EXPECT_THAT(even_shares(kThree, 780_W), ElementsAre(250_W, 250_W, 280_W));
  EXPECT_THAT(even_shares(kThree, 2000_W), ElementsAre(250_W, 250_W, 300_W));
  EXPECT_THAT(even_shares(kThree, 601_W), ElementsAre(201_W, 200_W, 200_W)) << "no watt is left over";
  EXPECT_THAT(even_shares(kThree, 300_W), ElementsAre(100_W, 100_W, 150_W)) << "the least there is";
}

TEST(PowerShares, BoardsInStepAreBroughtToOneRate) {
  // The second needs half as many watts again for the same clock.
  const std::vector<BoardCurve> curves = {{200_W, std::log(1000), 0.5}, {300_W, std::log(1000), 0.5}};
  const std::vector<BoardRange> wide = {{50_W, 500_W}, {50_W, 500_W}};
  EXPECT_THAT(equal_rate_shares(wide, curves, 400_W), ElementsAre(160_W, 240_W));
  const std::vector<BoardRange> narrow = {{50_W, 500_W}, {50_W, 200_W}};
  EXPECT_THAT(equal_rate_shares(narrow, curves, 500_W), ElementsAre(300_W, 200_W))
      << "one at its end cannot go along; the rest is free for the other";
}

TEST(PowerShares, OtherwiseAWattGoesWhereItBuysMost) {
  // d rate / d watt at 200 W each: 0.6 / 200 against 0.2 / 200.
  const std::vector<BoardCurve> curves = {{200_W, 0, 0.6}, {200_W, 0, 0.2}};
  const std::vector<BoardRange> wide = {{50_W, 500_W}, {50_W, 500_W}};
  const auto shares = most_rate_shares(wide, curves, 400_W);
  EXPECT_EQ(sum_of(shares), 400_W);
  EXPECT_GT(shares[0], 250_W);
  const auto rate = [&](Watts first) {
    return std::pow(first / 200_W, 0.6) + std::pow((400_W - first) / 200_W, 0.2);
  };
  for (double w = 55; w <= 345; w += 1) EXPECT_GE(rate(shares[0]) + 1e-6, rate(Watts(w)));
}

RC_GTEST_PROP(PowerSharesOfAnyBoards, KeepToRangesAndBudget, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 9);
  std::vector<BoardRange> ranges;
  std::vector<BoardCurve> curves;
  for (std::size_t i = 0; i < n; ++i) {
    const double least = *rc::gen::inRange(500, 2000) / 10.0;
    const double most = least + *rc::gen::inRange(0, 3000) / 10.0;
    ranges.push_back({Watts(least), Watts(most)});
    curves.push_back({Watts(*rc::gen::inRange(60, 400)), *rc::gen::inRange(-100, 100) / 100.0,
                      *rc::gen::inRange(5, 90) / 100.0});
  }
  const Watts budget = sum_of_least(ranges) + Watts(*rc::gen::inRange(0, 20000) / 10.0);
  for (const auto& shares : {even_shares(ranges, budget), equal_rate_shares(ranges, curves, budget),
                             most_rate_shares(ranges, curves, budget)}) {
    RC_ASSERT(shares.size() == n);
    RC_ASSERT(sum_of(shares) <= budget + Watts(1e-6));
    bool full = true;
    for (std::size_t i = 0; i < n; ++i) {
      RC_ASSERT(shares[i] >= ranges[i].least && shares[i] <= ranges[i].most);
      full = full && shares[i] + Watts(1) > ranges[i].most;
    }
    RC_ASSERT(full || sum_of(shares) > budget - Watts(static_cast<double>(n)));
  }
}

}  // namespace
}  // namespace rubato::plan
