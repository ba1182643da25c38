#include "govern/reference/zeus_search.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rubato::govern {
namespace {

plan::KnobAxis axis(Knob knob, double lowest, double highest, double step) {
  plan::KnobAxis out{.knob = knob, .values = {}};
  for (double v = lowest; v <= highest; v += step) out.values.push_back(v);
  return out;
}

plan::KnobSpace limits(double lowest, double highest, double found) {
  plan::KnobSpace out;
  out.axes = {axis(Knob::power_limit, lowest, highest, 1)};
  out.found.power_limit = Watts(found);
  out.highest.power_limit = Watts(highest);
  return out;
}

TrialResult at_limit(double watts, double seconds, double joules) {
  TrialResult out;
  out.at.power_limit = Watts(watts);
  out.cost = {.work = 40, .time = Seconds(seconds), .energy = Joules(joules)};
  return out;
}

std::vector<double> sweep(const ZeusOptions& options, const plan::KnobSpace& space) {
  return ZeusSearch(options, space, 0).sweep();
}

/// Feeds the search until it holds.
template <class Measure>
SearchStep chosen(Search& search, TrialResult baseline, const Measure& measure) {
  std::vector<TrialResult> seen = {std::move(baseline)};
  for (;;) {
    const SearchStep step = search.next(seen);
    if (step.kind == SearchStep::Kind::hold) return step;
    if (const std::optional<TrialResult> result = measure(step)) seen.push_back(*result);
  }
}

TEST(ZeusSweep, GoesDownInStepsOf25WattsAndMissesALowestLimitThatIsNoWholeNumberOfThemAway) {
  EXPECT_EQ(sweep({}, limits(100, 260, 260)), (std::vector<double>{260, 235, 210, 185, 160, 135, 110}));
  EXPECT_EQ(sweep({}, limits(100, 200, 200)), (std::vector<double>{200, 175, 150, 125, 100}));
}

TEST(ZeusSweep, StartsAtTheFoundLimitUnlessAsPublished) {
  ZeusOptions published;
  published.from_highest = true;
  EXPECT_EQ(sweep({}, limits(100, 250, 180)), (std::vector<double>{180, 155, 130, 105}));
  EXPECT_EQ(sweep(published, limits(100, 250, 180)),
            (std::vector<double>{250, 225, 200, 175, 150, 125, 100}));
}

TEST(ZeusSweep, OfAClockHasSixStepsOnValuesThatCanBeSet) {
  plan::KnobSpace space;
  space.axes = {axis(Knob::sm_clock, 210, 1410, 15)};
  EXPECT_EQ(sweep({}, space), (std::vector<double>{1410, 1215, 1005, 810, 615, 405, 210}));
}

TEST(ZeusSweep, OfACoarseTableTriesNoValueTwice) {
  plan::KnobSpace space;
  space.axes = {axis(Knob::power_limit, 100, 250, 50)};
  EXPECT_EQ(sweep({}, space), (std::vector<double>{250, 200, 150, 100}));
}

TEST(ZeusSearch, CountsItsStepsInIterations) {
  ZeusSearch search({}, limits(200, 700, 700), 0);
  const TrialResult first = at_limit(700, 1, 700);
  double steps = search.baseline().settle_work + search.baseline().work;
  static_cast<void>(chosen(search, first, [&](const SearchStep& step) {
    steps += step.length.settle_work + step.length.work;
    return at_limit(step.at.power_limit->value(), 1, 1);
  }));
  // 1 to wait, 21 limits of 10 + 40; its decision falls at the beginning of the step after them.
  EXPECT_EQ(steps, 1051);
}

TEST(ZeusSearch, KeepsWhatItDoesNotSweepAsFound) {
  plan::KnobSpace space = limits(100, 150, 150);
  space.axes.push_back(axis(Knob::sm_clock, 1000, 1400, 100));
  space.found.sm_clock = Megahertz(1200);
  ZeusSearch search({}, space, 0);
  const std::vector seen = {at_limit(150, 1, 100)};
  const SearchStep step = search.next(seen);
  EXPECT_EQ(step.at.power_limit, Watts(125));
  EXPECT_EQ(step.at.sm_clock, Megahertz(1200));
}

TEST(ZeusSearch, GoesOnWhereATryWasRefused) {
  ZeusOptions options;
  options.selector.rule = ZeusRule::energy;
  ZeusSearch search(options, limits(100, 150, 150), 0);
  const SearchStep hold =
      chosen(search, at_limit(150, 1, 100), [](const SearchStep& step) -> std::optional<TrialResult> {
        if (step.at.power_limit == Watts(125)) return std::nullopt;
        return at_limit(100, 1.2, 80);
      });
  EXPECT_EQ(hold.at.power_limit, Watts(100));
}

TEST(ZeusSearch, StaysAtTheFoundSettingWhereThereIsNoEnergyToChooseBy) {
  ZeusOptions options;
  options.selector.rule = ZeusRule::energy;
  ZeusSearch search(options, limits(100, 150, 150), 0);
  const auto blind = [](double watts) {
    TrialResult out = at_limit(watts, 1, 0);
    out.cost.energy.reset();
    return out;
  };
  const SearchStep hold =
      chosen(search, blind(150), [&](const SearchStep& step) { return blind(step.at.power_limit->value()); });
  EXPECT_TRUE(hold.found);
  EXPECT_EQ(hold.why, "Zeus has no energy to choose by: the found setting stays");
}

TEST(ZeusSearch, DoesNotCountABaselineBelowTheHighestLimitAmongItsProfiles) {
  ZeusOptions published;
  published.from_highest = true;
  published.selector.rule = ZeusRule::time;
  ZeusSearch search(published, limits(100, 150, 120), 0);
  const SearchStep hold = chosen(search, at_limit(120, 0.1, 1), [](const SearchStep& step) {
    return at_limit(step.at.power_limit->value(), 250 / step.at.power_limit->value(), 100);
  });
  EXPECT_FALSE(hold.found);
  EXPECT_EQ(hold.at.power_limit, Watts(150));
}

TEST(ZeusSelector, TakesTheLowestInsideTheBoundWhateverItUses) {
  const std::vector<ZeusProfile> profiles = {{250, Seconds(10), Joules(2000)},
                                             {200, Seconds(10.4), Joules(1900)},
                                             {150, Seconds(10.5), Joules(2100)},
                                             {100, Seconds(10.6), Joules(1000)}};
  ZeusSelector selector{.rule = ZeusRule::max_slowdown, .highest_power = {}, .slowdown_factor = 1.05};
  EXPECT_EQ(selector.select(profiles), 2u);
  selector.rule = ZeusRule::energy;
  EXPECT_EQ(selector.select(profiles), 1u);
  selector.slowdown_factor.reset();
  EXPECT_EQ(selector.select(profiles), 3u);
  EXPECT_FALSE(selector.select({}));
}

TEST(ZeusSelector, PricesASecondAtTheHighestLimitOfAllGpus) {
  // Halved: 1000 + 1000 against 850 + 1200. Of two GPUs 2000 + 2000 against 1700 + 2400; where one is priced,
  // 2000 + 1000 against 1700 + 1200.
  const std::vector<ZeusProfile> one = {{100, Seconds(10), Joules(1000)}, {50, Seconds(12), Joules(850)}};
  const std::vector<ZeusProfile> two = {{100, Seconds(10), Joules(2000)}, {50, Seconds(12), Joules(1700)}};
  ZeusSelector selector{.highest_power = 100_W, .slowdown_factor = {}};
  EXPECT_EQ(selector.select(one), 0u);
  EXPECT_EQ(selector.select(two), 1u);
  selector.highest_power = 200_W;
  EXPECT_EQ(selector.select(two), 0u);
}

StrategyRequest request_for(plan::KnobSpace space) {
  StrategyRequest out;
  out.space = std::move(space);
  return out;
}

TEST(MakeZeus, WithTheSameGoalHoldsTheBoundOfTheGoal) {
  StrategyRequest request = request_for(limits(100, 150, 150));
  request.goal.max_slowdown = 0.1;
  const auto search = make_zeus(ZeusRule::max_slowdown, request, false);
  ASSERT_TRUE(search);
  const SearchStep hold = chosen(**search, at_limit(150, 1, 100), [](const SearchStep& step) {
    return at_limit(step.at.power_limit->value(), step.at.power_limit == Watts(125) ? 1.08 : 1.12, 90);
  });
  EXPECT_EQ(hold.at.power_limit, Watts(125));
  EXPECT_EQ(hold.why, "Zeus chose 125 W: of 3, the lowest within 1.1 times the time at 150 W");
}

TEST(MakeZeus, OfTheLeastEnergyMakesSmallWhatTheGoalSays) {
  const auto held_at = [](Goal goal) {
    StrategyRequest request = request_for(limits(100, 150, 150));
    request.goal = goal;
    request.goal.max_slowdown = 1;
    const auto search = make_zeus(ZeusRule::energy, request, false);
    return chosen(**search, at_limit(150, 1, 100),
                  [](const SearchStep& step) {
                    return step.at.power_limit == Watts(125) ? at_limit(125, 1.1, 88)
                                                             : at_limit(100, 1.5, 80);
                  })
        .at.power_limit;
  };
  EXPECT_EQ(held_at({}), Watts(100));
  // 88 * 1.1 against 100 and 80 * 1.5; with the host 88 + 55 against 150 and 80 + 75.
  EXPECT_EQ(held_at({.objective = Objective::edp, .host_watts = {}}), Watts(125));
  EXPECT_EQ(held_at({.host_watts = Watts(50)}), Watts(125));
}

TEST(MakeZeus, AsPublishedWeighsEnergyAndTimeAndKnowsNoBound) {
  const auto search = make_zeus(ZeusRule::max_slowdown, request_for(limits(100, 150, 150)), true);
  ASSERT_TRUE(search);
  // 0.5 * (100 + 150), 0.5 * (60 + 1.2 * 150), 0.5 * (50 + 2 * 150)
  const SearchStep hold = chosen(**search, at_limit(150, 1, 100), [](const SearchStep& step) {
    return step.at.power_limit == Watts(125) ? at_limit(125, 1.2, 60) : at_limit(100, 2, 50);
  });
  EXPECT_EQ(hold.at.power_limit, Watts(125));
}

TEST(MakeZeus, AsPublishedNeedsThePowerLimitAndElseTakesTheKnobThereIs) {
  plan::KnobSpace clocks;
  clocks.axes = {axis(Knob::sm_clock, 600, 1200, 100)};
  const auto refused = make_zeus(ZeusRule::energy, request_for(clocks), true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what,
            "strategy zeus-energy@published: needs the power limit; what may be set is sm-clock");
  const auto search = make_zeus(ZeusRule::energy, request_for(clocks), false);
  ASSERT_TRUE(search);
  const std::vector seen = {TrialResult{.at = {}, .found = true, .cost = {40, Seconds(1), Joules(100)}}};
  EXPECT_EQ((*search)->next(seen).at.sm_clock, Megahertz(1100));
  EXPECT_FALSE(make_zeus(ZeusRule::energy, request_for({}), false));
}

}  // namespace
}  // namespace rubato::govern
