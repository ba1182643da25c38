#include "conduct/tally_keeper.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

namespace rubato::conduct {
namespace {

constexpr TimePoint kBegin{1'000'000'000'000};

TimePoint at(double seconds) {
  return kBegin + Seconds(seconds);
}

progress::TrackedIteration iteration(std::int64_t index, double begin, double end) {
  return {.iteration = {index, at(begin), at(end), ProgressSource::marks}};
}

TEST(TallyKeeper, StandsAtTheLatestIterationWhoseEnergyIsKnown) {
  TallyKeeper keeper(kBegin);
  EXPECT_FALSE(keeper.tally());
  keeper.iteration(iteration(0, 0, 1));
  keeper.iteration(iteration(1, 1, 2));
  EXPECT_FALSE(keeper.tally()) << "the sensor has not spoken";
  keeper.energy(at(1.5), 150_J);
  ASSERT_TRUE(keeper.tally());
  EXPECT_EQ(keeper.tally()->work, 1);
  EXPECT_EQ(keeper.tally()->at, at(1));
  EXPECT_EQ(keeper.tally()->energy, 100_J);
  keeper.energy(at(2), 200_J);
  EXPECT_EQ(keeper.tally()->work, 2);
  EXPECT_EQ(keeper.tally()->energy, 200_J);
}

TEST(TallyKeeper, AReadingAtTheEndItselfIsBetterThanAStraightLine) {
  TallyKeeper keeper(kBegin);
  keeper.iteration(iteration(0, 0, 1));
  EXPECT_EQ(keeper.wanted(at(0.9)), std::nullopt);
  EXPECT_EQ(keeper.wanted(at(2)), at(1));
  keeper.energy(at(1), 70_J);
  keeper.energy(at(2), 200_J);
  EXPECT_EQ(keeper.tally()->energy, 70_J);
}

TEST(TallyKeeper, AnIterationToldLateFindsItsEnergyInThePast) {
  TallyKeeper keeper(kBegin);
  for (int t = 1; t <= 10; ++t) keeper.energy(at(t), Joules(100.0 * t));
  keeper.iteration(iteration(0, 2, 4));
  EXPECT_EQ(keeper.tally()->at, at(4));
  EXPECT_EQ(keeper.tally()->energy, 400_J);
}

TEST(TallyKeeper, APauseIsNoPriceOfAnIteration) {
  TallyKeeper keeper(kBegin);
  keeper.iteration(iteration(0, 0, 1));
  keeper.energy(at(1), 100_J);
  const govern::Tally before = *keeper.tally();
  auto after = iteration(1, 61, 62);
  after.pause_before = 60_s;
  keeper.iteration(after);
  keeper.energy(at(61), 1000_J);
  keeper.energy(at(62), 1100_J);
  const govern::Cost cost = govern::cost_between(before, *keeper.tally());
  EXPECT_EQ(cost.work, 1);
  EXPECT_NEAR(cost.time.value(), 1, 1e-9);
  EXPECT_NEAR(cost.energy->value(), 100, 1e-9);
}

TEST(TallyKeeper, AnIterationWithAPauseInsideIsNoWork) {
  TallyKeeper keeper(kBegin);
  keeper.iteration(iteration(0, 0, 1));
  keeper.energy(at(1), 100_J);
  const govern::Tally before = *keeper.tally();
  auto paused = iteration(1, 1, 31);
  paused.paused = true;
  keeper.iteration(paused);
  keeper.iteration(iteration(2, 31, 32));
  keeper.energy(at(31), 900_J);
  keeper.energy(at(32), 1000_J);
  const govern::Cost cost = govern::cost_between(before, *keeper.tally());
  EXPECT_EQ(cost.work, 1);
  EXPECT_NEAR(cost.time.value(), 1, 1e-9);
  EXPECT_NEAR(cost.energy->value(), 100, 1e-9);
}

TEST(TallyKeeper, IterationsWhoseMarksWereLostCount) {
  TallyKeeper keeper(kBegin);
  keeper.iteration(iteration(0, 0, 1));
  keeper.iteration(iteration(4, 4, 5));
  keeper.energy(at(5), 500_J);
  EXPECT_EQ(keeper.tally()->work, 5);
}

RC_GTEST_PROP(TallyKeeper, AtEvenPowerAnyTwoTalliesCostTheSameHoweverReadingsFall, ()) {
  TallyKeeper keeper(kBegin);
  double iteration_end = 0;
  double read = 0;
  std::int64_t index = 0;
  std::optional<govern::Tally> first;
  for (const int tenths :
       *rc::gen::nonEmpty<std::vector<int>>(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 30)))) {
    if (tenths % 2 == 0) {
      keeper.iteration(iteration(index++, iteration_end, iteration_end + 1));
      iteration_end += 1;
    } else {
      read += 0.1 * tenths;
      keeper.energy(at(read), Joules(250 * read));
    }
    if (keeper.tally() && !first) first = keeper.tally();
  }
  if (!first || keeper.tally()->work <= first->work) return;
  const govern::Cost cost = govern::cost_between(*first, *keeper.tally());
  RC_ASSERT(std::abs(cost.time.value() - 1) < 1e-6);
  RC_ASSERT(std::abs(cost.energy->value() - 250) < 1e-3);
}

}  // namespace
}  // namespace rubato::conduct
