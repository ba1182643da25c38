#include "progress/period/cycle_fold.h"

#include <gtest/gtest.h>

#include "progress/period/wave.h"

namespace rubato::progress {
namespace {

constexpr double kSeconds = 60;

/// Cycles of so many seconds one after the other, of a load laid on them.
CycleFold folded(double cycle_s, const std::function<double(double)>& watts) {
  const Samples samples = samples_of(readings(kSeconds, 0.05, 5, watts));
  const Series level =
      high_pass(resample(samples, 0, kSeconds, 0.05, varying_columns(samples, 0, kSeconds)), 2 * cycle_s);
  std::vector<Cycle> cycles;
  for (int i = 1; (i + 2) * cycle_s < kSeconds; ++i) cycles.push_back({i * cycle_s, (i + 1) * cycle_s});
  return fold_cycles(level, cycles, 0, level.columns.size(), 0.05);
}

double by_turns(double t) {
  return std::fmod(t, 4) < 2 ? three_levels(t, 2) : 0.85 * three_levels(t, 2);
}

TEST(CycleFold, TheCycleIsAlikeAndNoPartOfItWouldDo) {
  const CycleFold fold = folded(2, [](double t) { return three_levels(t, 2); });
  EXPECT_GT(fold.explained, 0.9);
  EXPECT_GT(fold.no_part, 3);
  EXPECT_GT(fold.shown, 4);
  EXPECT_LT(std::abs(fold.by_twos), 0.2);
  EXPECT_LT(fold.by_twos_z, 4);
}

TEST(CycleFold, OfADoubleHalfWouldDo) {
  const CycleFold fold = folded(4, [](double t) { return three_levels(t, 2); });
  EXPECT_GT(fold.explained, 0.9);
  EXPECT_LT(fold.no_half, 2.5);
  EXPECT_GT(fold.no_third, fold.no_half + 2);
  EXPECT_EQ(fold.no_part, std::min(fold.no_half, fold.no_part));
}

TEST(CycleFold, OfAHalfEachSecondIsTheCycle) {
  const CycleFold fold = folded(2, by_turns);
  EXPECT_GT(fold.by_twos, 0.3);
  EXPECT_GT(fold.by_twos_z, 5);
  EXPECT_GT(fold.by_twos, fold.by_threes);
}

TEST(CycleFold, NoiseHoldsNothing) {
  const CycleFold fold = folded(2, [](double) { return 200.0; });
  EXPECT_LT(fold.explained, 0.2);
  EXPECT_LT(fold.shown, 3);
}

TEST(CycleFold, OfTwoCyclesNothingIsSaid) {
  const Samples samples = samples_of(readings(10, 0.05, 5, [](double t) { return three_levels(t, 2); }));
  const Series level = high_pass(resample(samples, 0, 10, 0.05, varying_columns(samples, 0, 10)), 4);
  EXPECT_EQ(fold_cycles(level, {{2, 4}, {4, 6}}, 0, 1, 0.05).explained, 0);
  EXPECT_EQ(fold_cycles(level, {{0, 2}, {2, 4}, {4, 6}}, 1, 1, 0.05).explained, 0);
}

}  // namespace
}  // namespace rubato::progress
