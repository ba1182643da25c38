#include "experiment/evidence_blocks.h"

#include <gtest/gtest.h>

#include "analyse/student_t.h"

namespace rubato::experiment {
namespace {

SweepMeasurement block(double time, double energy) {
  SweepMeasurement m;
  m.time = Seconds(time);
  m.energy = Joules(energy);
  return m;
}

std::optional<BlockEffect> effect(const std::vector<SweepMeasurement>& blocks) {
  return effect_of(blocks, &analyse::student_t_quantile);
}

TEST(ControlBlocks, ASteadyDriftIsNotTakenForTheSetting) {
  // Energy rises by 1 J from block to block; the other setting does nothing.
  const auto e = effect({block(1, 100), block(1, 101), block(1, 102), block(1, 103)});
  ASSERT_TRUE(e);
  EXPECT_DOUBLE_EQ(e->energy.value, 0);
  EXPECT_NEAR(e->energy_drift.value, 0.03, 1e-12);
}

TEST(ControlBlocks, TheSettingIsNotTakenForDrift) {
  const auto e = effect({block(1, 100), block(1.1, 80), block(1.1, 80), block(1, 100)});
  ASSERT_TRUE(e);
  EXPECT_NEAR(e->time.value, 0.1, 1e-12);
  EXPECT_NEAR(e->energy.value, -0.2, 1e-12);
  EXPECT_DOUBLE_EQ(e->energy_drift.value, 0);
  EXPECT_FALSE(e->energy.half_width) << "one cycle does not tell how far the next would be";
}

TEST(ControlBlocks, TheIntervalIsOverCycles) {
  const auto e = effect({block(1, 100), block(1, 79), block(1, 79), block(1, 100),  //
                         block(1, 100), block(1, 81), block(1, 81), block(1, 100)});
  ASSERT_TRUE(e);
  EXPECT_EQ(e->cycles, 2);
  EXPECT_NEAR(e->energy.value, -0.2, 1e-12);
  ASSERT_TRUE(e->energy.half_width);
  // t(0.975, 1) = 12.706, standard error 0.01.
  EXPECT_NEAR(*e->energy.half_width, 0.12706, 1e-4);
}

TEST(ControlBlocks, ACycleWithABlockThatIsNotUsedOrShortIsLeftOut) {
  auto spoiled = block(1, 500);
  spoiled.not_used = "the limit was 180 W";
  const auto e = effect({block(1, 100), spoiled, block(1, 80), block(1, 100),       //
                         block(1, 100), block(1, 80), block(1, 80), block(1, 100),  //
                         block(1, 100), block(1, 50)});
  ASSERT_TRUE(e);
  EXPECT_EQ(e->cycles, 1);
  EXPECT_NEAR(e->energy.value, -0.2, 1e-12);
  EXPECT_FALSE(effect({block(1, 100), block(1, 80)}));
}

}  // namespace
}  // namespace rubato::experiment
