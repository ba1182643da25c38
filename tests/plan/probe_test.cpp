#include <gtest/gtest.h>

#include "beliefs.h"
#include "plan/choice.h"

namespace rubato::plan {
namespace {

TEST(NextProbe, MeasuresWhatMovesTheOtherSettingsMost) {
  // One thing unknown moves all three, the second setting most clearly above its noise.
  auto believed = believe({{200, 1.5, 1.0}, {150, 1.5, 1.0}, {100, 1.5, 1.0}}, 1);
  believed.time_factor << 0.01, 0.10, 0.02;
  believed.energy_factor << 0.01, 0.10, 0.02;
  believed.measurement_noise = {0.05, 0.05};
  EXPECT_EQ(next_probe(believed, goal(Objective::energy), 200_W, {false, false, false}), 1U);
}

TEST(NextProbe, PrefersTheSettingOnWhichTheChoiceHangs) {
  // Both are as uncertain; only of the second is it open whether it may be chosen.
  const auto believed = believe({{100, 1.50, 0.80, 0.02, 0.01}, {150, 1.05, 0.80, 0.02, 0.01}});
  EXPECT_EQ(next_probe(believed, goal(Objective::energy), 200_W, {false, false}), 1U);
}

TEST(NextProbe, WhereNoBoundHoldsTheFreeChoiceCounts) {
  // All are far slower than the bound; only the second may turn out to be better than the third.
  const auto believed =
      believe({{150, 1.5, 0.90, 0.01, 0.03}, {125, 1.5, 0.70, 0.01, 0.03}, {100, 1.5, 0.70}});
  EXPECT_EQ(next_probe(believed, goal(Objective::energy), 200_W, {false, false, true}), 1U);
}

TEST(NextProbe, NeverMeasuresASettingTwiceAndEnds) {
  const auto believed = believe({{100, 1.1, 0.8, 0.02, 0.02}, {150, 1.05, 0.8, 0.03, 0.03}});
  std::vector<bool> measured = {false, false};
  for (int k = 0; k < 2; ++k) {
    const auto next = next_probe(believed, goal(Objective::energy), 200_W, measured);
    ASSERT_TRUE(next);
    EXPECT_FALSE(measured[*next]);
    measured[*next] = true;
  }
  EXPECT_FALSE(next_probe(believed, goal(Objective::energy), 200_W, measured));
}

TEST(NextProbe, SettingsKnownExactlyAndWithoutNoiseDoNotBreakIt) {
  const auto believed = believe({{100, 1.1, 0.8}, {150, 1.05, 0.8}});
  EXPECT_TRUE(next_probe(believed, goal(Objective::edp), 200_W, {false, false}));
}

TEST(NextProbe, EqualQuestionsGetEqualAnswers) {
  std::vector<At> many;
  for (int k = 0; k < 600; ++k) many.push_back({100.0 + k, 1.0 + 1e-4 * k, 0.9, 0.01, 0.01});
  auto believed = believe(many, 4);
  for (Eigen::Index i = 0; i < 600; ++i)
    for (Eigen::Index k = 0; k < 4; ++k) {
      believed.time_factor(i, k) = 0.02 * std::sin(0.01 * static_cast<double>(i * (k + 1)));
      believed.energy_factor(i, k) = 0.02 * std::cos(0.01 * static_cast<double>(i * (k + 1)));
    }
  const std::vector<bool> measured(600, false);
  const auto first = next_probe(believed, goal(Objective::energy), 200_W, measured);
  EXPECT_EQ(first, next_probe(believed, goal(Objective::energy), 200_W, measured));
  EXPECT_TRUE(first);
}

}  // namespace
}  // namespace rubato::plan
