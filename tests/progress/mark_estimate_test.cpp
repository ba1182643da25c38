#include "progress/mark_estimate.h"

#include <gtest/gtest.h>

namespace rubato::progress {
namespace {

TrackedIteration step(std::int64_t index, double begin_s, double end_s) {
  return {{index, TimePoint{} + Seconds(begin_s), TimePoint{} + Seconds(end_s)}, false, false, std::nullopt};
}

TEST(MarkEstimate, FewIterationsTellNothing) {
  MarkEstimate marks;
  for (int i = 0; i < 3; ++i) marks.add(step(i, i * 0.5, i * 0.5 + 0.4));
  EXPECT_FALSE(marks.estimate()) << "three iterations are two spacings";
}

TEST(MarkEstimate, ThePeriodIsBeginToBegin) {
  MarkEstimate marks;
  for (int i = 0; i < 10; ++i) marks.add(step(i, i * 0.5, i * 0.5 + 0.4));
  const IterationEstimate estimate = marks.estimate().value();
  EXPECT_TRUE(estimate.periodic);
  EXPECT_EQ(estimate.source, ProgressSource::marks);
  EXPECT_NEAR(estimate.period->value(), 0.5, 1e-9);
  EXPECT_NEAR(estimate.half_width.value(), 0, 1e-6);
  EXPECT_FALSE(estimate.drift_per_minute);
}

TEST(MarkEstimate, PausesAndLostMarksAreNoIterations) {
  MarkEstimate marks;
  double at = 0;
  for (int i = 0; i < 40; ++i) {
    TrackedIteration one = step(i < 20 ? i : i + 5, at, at + 1);  // five were lost in the middle
    if (i == 10) one.pause_before = Seconds(30);
    marks.add(one);
    at += 1;
    if (i == 9) at += 30;
    if (i == 19) at += 5;
  }
  EXPECT_NEAR(marks.estimate()->period->value(), 1, 1e-9);
  EXPECT_NEAR(marks.estimate()->half_width.value(), 0, 1e-6);
}

TEST(MarkEstimate, IterationsThatGrowAreADrift) {
  MarkEstimate marks;
  double at = 0;
  for (int i = 0; i < 60; ++i) {
    marks.add(step(i, at, at + 0.9));
    at += 1 + 0.01 * at / 60;  // one percent a minute
  }
  EXPECT_NEAR(marks.estimate()->drift_per_minute.value(), 0.01, 0.001);
}

TEST(MarkEstimate, AnotherSettingIsNoDrift) {
  MarkEstimate marks;
  double at = 0;
  const auto run = [&](int from, int count, double length) {
    for (int i = from; i < from + count; ++i, at += length) marks.add(step(i, at, at + 0.9 * length));
  };
  run(0, 40, 1);
  marks.setting_changed(TimePoint{} + Seconds(at - 0.5));
  run(40, 3, 0.8);
  EXPECT_NEAR(marks.estimate()->period->value(), 1, 1e-9) << "two iterations at the new setting are few";
  run(43, 20, 0.8);
  EXPECT_NEAR(marks.estimate()->period->value(), 0.8, 1e-9);
  EXPECT_NEAR(marks.estimate()->half_width.value(), 0, 1e-6);
  EXPECT_FALSE(marks.estimate()->drift_per_minute);
}

TEST(MarkEstimate, ScatterIsNoDrift) {
  MarkEstimate marks;
  double at = 0;
  for (int i = 0; i < 60; ++i) {
    marks.add(step(i, at, at + 0.5));
    at += i % 3 == 0 ? 1.1 : 0.95;
  }
  EXPECT_FALSE(marks.estimate()->drift_per_minute);
  EXPECT_GT(marks.estimate()->half_width.value(), 0.01);
}

}  // namespace
}  // namespace rubato::progress
