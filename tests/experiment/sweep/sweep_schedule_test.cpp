#include "experiment/sweep_schedule.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace rubato::experiment {
namespace {

std::vector<std::size_t> settings_of(const std::vector<SweepStep>& steps) {
  std::vector<std::size_t> out;
  for (const auto& step : steps)
    if (step.point) out.push_back(*step.point);
  return out;
}

TEST(SweepSchedule, BeginsAndEndsWithAControlAndHasOneAfterEveryFourSettings) {
  const auto steps = sweep_schedule(20, {});
  EXPECT_FALSE(steps.front().point);
  EXPECT_FALSE(steps.back().point);
  int since = 0;
  for (const auto& step : steps) {
    since = step.point ? since + 1 : 0;
    EXPECT_LE(since, 4);
  }
}

TEST(SweepSchedule, AShortSweepHasFourControlsAllTheSame) {
  const auto steps = sweep_schedule(6, {.control_every = 10});
  EXPECT_EQ(steps.size() - settings_of(steps).size(), 4U);
}

TEST(SweepSchedule, EveryRoundHasEverySettingOnceInAnOrderOfItsOwn) {
  const auto steps = sweep_schedule(12, {.order = SweepOrder::random, .repeats = 3});
  const auto settings = settings_of(steps);
  ASSERT_EQ(settings.size(), 36U);
  const std::vector<std::size_t> first(settings.begin(), settings.begin() + 12);
  const std::vector<std::size_t> second(settings.begin() + 12, settings.begin() + 24);
  EXPECT_EQ(std::set<std::size_t>(first.begin(), first.end()).size(), 12U);
  EXPECT_NE(first, second);
}

TEST(SweepSchedule, NoTwoStepsAreTheSame) {
  std::map<std::pair<std::optional<std::size_t>, unsigned>, int> seen;
  for (const auto& step : sweep_schedule(5, {.repeats = 4, .control_every = 1})) {
    const auto key = std::pair(step.point, step.repeat);
    EXPECT_EQ(++seen[key], 1);
  }
}

TEST(SweepSchedule, TheSameSeedGivesTheSameStepsAndAnotherSeedOthers) {
  EXPECT_EQ(sweep_schedule(12, {.seed = 7}), sweep_schedule(12, {.seed = 7}));
  EXPECT_NE(sweep_schedule(12, {.seed = 7}), sweep_schedule(12, {.seed = 8}));
}

TEST(SweepSchedule, InterleavedRoundsGoUpAndDownInTurns) {
  const auto settings = settings_of(sweep_schedule(3, {.order = SweepOrder::interleaved, .repeats = 2}));
  EXPECT_EQ(settings, (std::vector<std::size_t>{0, 1, 2, 2, 1, 0}));
}

TEST(SweepSchedule, AscendingTakesAllRepeatsOfASettingTogether) {
  const auto settings = settings_of(sweep_schedule(2, {.order = SweepOrder::ascending, .repeats = 2}));
  EXPECT_EQ(settings, (std::vector<std::size_t>{0, 0, 1, 1}));
}

}  // namespace
}  // namespace rubato::experiment
