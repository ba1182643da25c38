#include "progress/period/parts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/random.h"

namespace rubato::progress {
namespace {

constexpr double kUpdate_s = 0.1;

/// Readings every update for 80 s: `watts` of the phase within a part, and of which part it is.
std::vector<Events> updates(double part_s, const std::function<double(double, int)>& watts) {
  Random random(1);
  Events out;
  for (int i = 0; i < 800; ++i) {
    const double t = i * kUpdate_s;
    const double part = std::floor(t / part_s);
    out.at_s.push_back(t);
    out.value.push_back(watts(t / part_s - part, static_cast<int>(part)) + 0.05 * random.normal());
  }
  return {out};
}

double busy_first(double phase) {
  return phase < 0.4 ? 1.0 : 0.0;
}

TEST(Parts, OfAMultipleExplainAllThatTheMultipleExplains) {
  const auto job = updates(0.737, [](double phase, int) { return busy_first(phase); });
  const PartPairs pairs = compare_parts(job, {kUpdate_s}, 3 * 0.737, 3, 24);
  EXPECT_GT(pairs.explained(), 0.9);
  EXPECT_LT(pairs.z, 3);
}

TEST(Parts, ThatDifferByTurnsDoNotExplainTheirPair) {
  const auto job =
      updates(0.737, [](double phase, int part) { return busy_first(phase) * (part % 2 == 0 ? 1.0 : 0.4); });
  const PartPairs pairs = compare_parts(job, {kUpdate_s}, 2 * 0.737, 2, 24);
  EXPECT_LT(pairs.explained(), 0.8);
  EXPECT_GT(pairs.z, 4);
}

TEST(Parts, ThatNeverMeetTheirPairAtLikePhasesAreHidden) {
  // Two parts are seven updates to the dot; one is three and a half.
  const auto job = updates(0.35, [](double phase, int) { return busy_first(phase); });
  const PartPairs pairs = compare_parts(job, {kUpdate_s}, 0.7, 2, 24);
  EXPECT_GT(pairs.hidden, 0);
  EXPECT_GT(pairs.hidden_cross, pairs.hidden_same);
}

TEST(Parts, AreCutEvenlyFromTheCyclesFollowed) {
  Followed followed;
  followed.cycles = {{10, 13}, {13, 16.6}};
  const Followed cut = in_parts(followed, 3);
  ASSERT_EQ(cut.cycles.size(), 6U);
  EXPECT_DOUBLE_EQ(cut.cycles[1].begin_s, 11);
  EXPECT_DOUBLE_EQ(cut.cycles[3].begin_s, cut.cycles[2].end_s);
  EXPECT_DOUBLE_EQ(cut.cycles.back().end_s, 16.6);
}

}  // namespace
}  // namespace rubato::progress
