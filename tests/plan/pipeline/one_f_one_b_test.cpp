#include "plan/pipeline/one_f_one_b.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace rubato::plan {
namespace {

std::string stage_text(const PipelineSchedule& schedule, std::size_t stage) {
  std::string out;
  for (std::size_t i = schedule.first_of(stage); i < schedule.first_of(stage + 1); ++i) {
    const Instruction& it = schedule.instructions[i];
    EXPECT_EQ(it.stage, stage);
    out += (it.pass == PipelinePass::forward ? "F" : "B") + std::to_string(it.microbatch) + " ";
  }
  return out;
}

TEST(OneForwardOneBackward, StagesBeginWithAsManyForwardsAsAreNeededToReachTheLast) {
  const PipelineSchedule schedule = one_f_one_b(3, 4);
  EXPECT_EQ(stage_text(schedule, 0), "F0 F1 F2 B0 F3 B1 B2 B3 ");
  EXPECT_EQ(stage_text(schedule, 1), "F0 F1 B0 F2 B1 F3 B2 B3 ");
  EXPECT_EQ(stage_text(schedule, 2), "F0 B0 F1 B1 F2 B2 F3 B3 ");
}

TEST(OneForwardOneBackward, FewMicroBatchesDoNotFillThePipeline) {
  EXPECT_EQ(stage_text(one_f_one_b(4, 1), 0), "F0 B0 ");
  EXPECT_EQ(stage_text(one_f_one_b(4, 2), 0), "F0 F1 B0 B1 ");
}

TEST(OneForwardOneBackward, NothingBeginsBeforeWhatItNeeds) {
  const PipelineSchedule schedule = one_f_one_b(5, 7);
  EXPECT_EQ(schedule.instructions.size(), 2U * 5 * 7);
  std::vector<std::size_t> place(schedule.instructions.size());
  for (std::size_t i = 0; i < schedule.order.size(); ++i) place[schedule.order[i]] = i;
  for (const auto& [before, after] : schedule.waits) EXPECT_LT(place[before], place[after]);
  // Each has its predecessor in the stage, and the same micro-batch's from its neighbour but at the ends.
  EXPECT_EQ(schedule.waits.size(), 5U * (2 * 7 - 1) + 2U * 7 * 4);
}

TEST(OneForwardOneBackward, WaitsComeAfterAllThatEndInTheirFirst) {
  const PipelineSchedule schedule = one_f_one_b(4, 6);
  std::set<std::size_t> used;
  for (const auto& [before, after] : schedule.waits) {
    EXPECT_FALSE(used.contains(after)) << "a wait of an instruction others have been counted from";
    used.insert(before);
  }
}

}  // namespace
}  // namespace rubato::plan
