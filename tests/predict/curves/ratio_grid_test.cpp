#include "predict/ratio_grid.h"

#include <gtest/gtest.h>

namespace rubato::predict {
namespace {

TEST(RatioGrid, IsWhatWasMeasuredAndLinearInEachKnobBetween) {
  const RatioGrid grid(
      {{{500, 800}, {4, 1}}, {{500, 1000}, {3, 1}}, {{1000, 800}, {2, 1}}, {{1000, 1000}, {1, 1}}});
  EXPECT_EQ(grid.at({0.5, 0.8}).time, 4);
  EXPECT_NEAR(grid.at({0.75, 0.8}).time, 3, 1e-12);
  EXPECT_NEAR(grid.at({0.75, 0.9}).time, 2.5, 1e-12);
  EXPECT_NEAR(grid.at({0.75, 0.95}).energy, 1, 1e-12);
}

TEST(RatioGrid, IsFlatBeyondEachKnobByItself) {
  const RatioGrid grid(
      {{{500, 800}, {4, 1}}, {{500, 1000}, {3, 1}}, {{1000, 800}, {2, 1}}, {{1000, 1000}, {1, 1}}});
  EXPECT_NEAR(grid.at({0.1, 0.9}).time, 3.5, 1e-12);
  EXPECT_NEAR(grid.at({2, 0.1}).time, 2, 1e-12);
}

TEST(RatioGrid, ACornerThatNobodyMeasuredIsLikeTheNearestThatSomebodyDid) {
  // Each knob was moved alone.
  const RatioGrid grid({{{500, 1000}, {2, 0.7}},
                        {{900, 1000}, {1.1, 0.9}},
                        {{1000, 800}, {1.3, 0.8}},
                        {{1000, 1000}, {1, 1}}});
  EXPECT_NEAR(grid.at({0.5, 0.8}).time, 2, 1e-12);
  EXPECT_NEAR(grid.at({0.5, 0.9}).time, 2, 1e-12);
  EXPECT_NEAR(grid.at({0.9, 0.8}).energy, 0.8, 1e-12);  // the other knob is nearer its own
  EXPECT_NEAR(grid.at({0.95, 1}).time, 1.05, 1e-12);
}

TEST(RatioGrid, OneSettingIsAllThereIs) {
  const RatioGrid grid({{{1000, 1000}, {1, 1}}});
  EXPECT_EQ(grid.at({0.3, 0.7}).time, 1);
}

}  // namespace
}  // namespace rubato::predict
