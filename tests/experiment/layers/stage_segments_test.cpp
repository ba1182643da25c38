#include "experiment/layers/stage_segments.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rubato::experiment {
namespace {

using plan::PipelinePass;

// Two stages; the second has no backward at 1000 MHz.
plan::StageProfile made_profile() {
  plan::Stage first;
  first.of(PipelinePass::forward) = {{1400_MHz, 50_ms, 20_J}, {1000_MHz, 60_ms, 15_J}};
  first.of(PipelinePass::backward) = {{1400_MHz, 100_ms, 40_J}, {1000_MHz, 120_ms, 30_J}};
  plan::Stage second = first;
  second.of(PipelinePass::backward).pop_back();
  return {"made", {first, second}};
}

std::string order(const plan::SegmentTable& table) {
  std::string out;
  for (const plan::Segment& segment : table.segments) out += segment.pass == LayerPass::forward ? 'F' : 'B';
  return out;
}

TEST(StageSegments, FollowTheOrderOfOneForwardOneBackward) {
  EXPECT_EQ(order(stage_segments(made_profile(), 0, 3, 1593_MHz).value()), "FFBFBB");
  EXPECT_EQ(order(stage_segments(made_profile(), 1, 3, 1593_MHz).value()), "FBFBFB");
}

TEST(StageSegments, HaveTheMeasuredCostsAndTheHighestClockAsDefault) {
  const auto table = stage_segments(made_profile(), 0, 1, 1593_MHz).value();
  ASSERT_EQ(table.settings.size(), 2U);
  EXPECT_EQ(table.settings[table.at_default], (predict::Clocks{1400_MHz, 1593_MHz}));
  EXPECT_EQ(table.cost(0, 0).time, 60_ms);
  EXPECT_EQ(table.cost(1, 1).energy, 40_J);
}

TEST(StageSegments, AClockThatAPassLacksCannotBeChosenForIt) {
  const auto table = stage_segments(made_profile(), 1, 1, 1593_MHz).value();
  EXPECT_TRUE(std::isinf(table.cost(1, 0).energy.value()));
  EXPECT_EQ(table.cost(0, 0).energy, 15_J);
}

TEST(StageSegments, RefuseAStageThatIsNotThereAndNoMicrobatches) {
  EXPECT_EQ(stage_segments(made_profile(), 2, 3, 1593_MHz).error().what,
            "stage 2 of 'made': it has 2, counted from 0");
  EXPECT_FALSE(stage_segments(made_profile(), 0, 0, 1593_MHz));
}

}  // namespace
}  // namespace rubato::experiment
