#include "experiment/latency/change.h"

#include <gtest/gtest.h>

#include "experiment/latency/summary.h"

namespace rubato::experiment {
namespace {

constexpr Megahertz kMemory{7001};
const ClockPair kUp{{Megahertz(900), kMemory}, {Megahertz(1500), kMemory}};
const ClockPair kDown{{Megahertz(1500), kMemory}, {Megahertz(900), kMemory}};

ClockReading at(double mhz) {
  return {{}, Megahertz(mhz), kMemory};
}

TEST(ClockChange, IsThereWithinAStepOfTheTargetOrPastIt) {
  const auto within = tolerance_of(kUp, Megahertz(15));
  EXPECT_FALSE(reached(kUp, within, at(1470)));
  EXPECT_TRUE(reached(kUp, within, at(1485)));
  EXPECT_TRUE(reached(kUp, within, at(1530)));
  EXPECT_FALSE(reached(kDown, within, at(930)));
  EXPECT_TRUE(reached(kDown, within, at(915)));
  EXPECT_TRUE(reached(kDown, within, at(870)));
}

TEST(ClockChange, BetweenNeighboursOfTheTableTheFirstIsNotTakenForTheSecond) {
  const ClockPair step{{Megahertz(1500), kMemory}, {Megahertz(1515), kMemory}};
  const auto within = tolerance_of(step, Megahertz(15));
  EXPECT_FALSE(reached(step, within, at(1500)));
  EXPECT_TRUE(reached(step, within, at(1515)));
  EXPECT_TRUE(at_start(step, within, at(1500)));
  EXPECT_FALSE(at_start(step, within, at(1515)));
}

TEST(ClockChange, AMemoryClockIsThereAFewMegahertzOffTheTable) {
  const ClockPair memory{{Megahertz(1200), Megahertz(5001)}, {Megahertz(1200), kMemory}};
  const auto within = tolerance_of(memory, Megahertz(15));
  EXPECT_TRUE(reached(memory, within, {{}, Megahertz(1200), Megahertz(6994)}));
  EXPECT_FALSE(reached(memory, within, {{}, Megahertz(1200), Megahertz(6501)}));
}

std::vector<PowerReading> readings(std::initializer_list<double> watts, TimePoint from) {
  std::vector<PowerReading> out;
  for (const double w : watts)
    out.push_back({from + Seconds(0.1 * static_cast<double>(out.size())), Watts(w)});
  return out;
}

TEST(PowerDelay, EndsWhereAllThatFollowsIsWithinATenthOfTheStep) {
  const auto before = readings({100, 100, 100}, TimePoint{0});
  // A step of 100 W: 195 W counts as there, but not before 150 W is over.
  const auto after = readings({100, 195, 150, 191, 200, 200, 200}, TimePoint{1'000'000'000});
  const auto delay = power_delay(before, TimePoint{1'000'000'000}, after, Seconds(0.2));
  ASSERT_TRUE(delay);
  EXPECT_NEAR(delay->value(), 0.3, 1e-9);
}

TEST(PowerDelay, IsAbsentWhereTheStepIsLostInTheScatterOrNothingWasRead) {
  const auto before = readings({100, 104, 96}, TimePoint{0});
  const auto after = readings({100, 108, 104, 112, 108}, TimePoint{1'000'000'000});
  EXPECT_FALSE(power_delay(before, TimePoint{1'000'000'000}, after, Seconds(0.2)));
  EXPECT_FALSE(power_delay({}, TimePoint{}, after, Seconds(0.2)));
  EXPECT_FALSE(power_delay(before, TimePoint{}, {}, Seconds(0.2)));
}

TEST(DelaySummary, CountsOutliersAndKeepsThemInTheWorst) {
  std::vector<Seconds> delays(19, Seconds(0.030));
  delays.push_back(Seconds(0.300));
  const auto summary = summary_of_delays(delays);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->median, Seconds(0.030));
  EXPECT_EQ(summary->worst, Seconds(0.300));
  EXPECT_EQ(summary->outliers, 1U);
  EXPECT_NEAR(summary->p95.value(), 0.030 + 0.05 * 0.270, 1e-9);
  EXPECT_FALSE(summary_of_delays({}));
}

TEST(Summary, AChangeThatMayHaveBeenShortIsNoOutlier) {
  const predict::Clocks low{900_MHz, 7001_MHz};
  const predict::Clocks high{1500_MHz, 7001_MHz};
  const ClockPair pair{low, high};
  std::vector<TimedChange> changes;
  const auto timed = [&](Seconds clock, Seconds known_to) {
    TimedChange change;
    change.clock = clock;
    change.known_to = known_to;
    changes.push_back(change);
  };
  for (int i = 0; i < 8; ++i) timed(20_ms, Seconds(0.5e-3));
  timed(45_ms, 10_ms);  // 35 to 55 ms
  timed(300_ms, 10_ms);
  const auto table = summarise(std::span(&pair, 1), changes, {});
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_EQ(table->overall.outliers, 1U);
  EXPECT_EQ(table->overall.worst, 300_ms);
}

}  // namespace
}  // namespace rubato::experiment
