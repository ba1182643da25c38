#include "progress/period/rivals.h"

#include <gtest/gtest.h>

#include "progress/period/wave.h"

namespace rubato::progress {
namespace {

constexpr double kSeconds = 60;
constexpr double kStep = 0.05;

std::vector<Cycle> cycles_of(double length_s, double from_s = 0, double to_s = kSeconds) {
  std::vector<Cycle> out;
  for (double at = from_s; at + length_s <= to_s + 1e-9; at += length_s) out.push_back({at, at + length_s});
  return out;
}

Rivalry rivalry(const std::vector<std::vector<Cycle>>& cycles, const std::function<double(double)>& watts,
                double update_s = kStep) {
  const Samples samples = samples_of(readings(kSeconds, kStep, 5, watts));
  const Series level =
      high_pass(resample(samples, 0, kSeconds, kStep, varying_columns(samples, 0, kSeconds)), 8);
  std::vector<Rival> rivals;
  rivals.reserve(cycles.size());
  for (const auto& c : cycles) rivals.push_back({&c, c.empty() ? 1 : c.front().length_s()});
  return rivalry_of(level, rivals, update_s);
}

double steady(double t) {
  return three_levels(t, 2);
}

double by_turns(double t) {
  return std::fmod(t, 4) < 2 ? three_levels(t, 2) : 0.85 * three_levels(t, 2);
}

TEST(Rivals, TheIterationIsLikelierThanItsDoubleItsHalfAndAnotherLength) {
  const auto out = rivalry({cycles_of(2), cycles_of(4), cycles_of(1), cycles_of(1.7)}, steady);
  EXPECT_GT(out.gain[0], 100);
  for (std::size_t other = 1; other < 4; ++other) {
    EXPECT_GT(out.over[0][other], 3) << other;
    EXPECT_DOUBLE_EQ(out.over[other][0], -out.over[0][other]);
  }
  EXPECT_LT(out.gain[3], 0.2 * out.gain[0]);
}

TEST(Rivals, WhereCyclesTakeTurnsTheirDoubleIsLikelier) {
  const auto out = rivalry({cycles_of(2), cycles_of(4)}, by_turns);
  EXPECT_GT(out.over[1][0], 20);
}

TEST(Rivals, CyclesOfNoiseGainNothing) {
  const auto out = rivalry({cycles_of(2)}, [](double) { return 200.0; });
  EXPECT_LT(out.gain[0], 5);
}

TEST(Rivals, AreComparedWhereBothHoldTheReadings) {
  // The second misses half of the trace, and is no less likely in the other half.
  const auto out = rivalry({cycles_of(2), cycles_of(2, 30)}, steady);
  EXPECT_GT(out.gain[0], 1.7 * out.gain[1]);
  EXPECT_LT(std::abs(out.over[0][1]), 0.1 * out.gain[1]);
  const auto apart = rivalry({cycles_of(2, 0, 30), cycles_of(2, 30)}, steady);
  EXPECT_EQ(apart.over[0][1], 0);
}

TEST(Rivals, OfASlowSensorReadingsTellNoMoreThanItsUpdates) {
  const auto quick = rivalry({cycles_of(2)}, steady);
  const auto slow = rivalry({cycles_of(2)}, steady, 2 * kStep);
  EXPECT_LT(slow.gain[0], 0.7 * quick.gain[0]);
}

TEST(Rivals, WithoutCyclesNothingIsSaid) {
  const auto out = rivalry({{}, cycles_of(2)}, steady);
  EXPECT_EQ(out.gain[0], 0);
  EXPECT_EQ(out.over[1][0], 0);
  EXPECT_TRUE(rivalry({}, steady).gain.empty());
}

}  // namespace
}  // namespace rubato::progress
