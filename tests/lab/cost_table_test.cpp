#include "lab/cost_table.h"

#include <gtest/gtest.h>

#include "small_job.h"

namespace rubato::lab {
namespace {

TEST(CostTable, OneBoardCostsWhatTheTruthSays) {
  const CostTable costs(small_job());
  EXPECT_DOUBLE_EQ(costs.at(0, 4).time, 1);
  EXPECT_DOUBLE_EQ(costs.at(0, 4).energy, 140);
  EXPECT_DOUBLE_EQ(costs.at(0, 3).time, 1.1);
  EXPECT_DOUBLE_EQ(costs.at(0, 3).energy, 126);
}

TEST(CostTable, UnderAClockBoardsAreEquallyFastAndTheWorseDrawsMore) {
  Job job = small_job();
  job.space.axes[0].knob = Knob::sm_clock;
  job.board_efficiency = {1.0, 0.8};
  const CostTable costs(job);
  EXPECT_DOUBLE_EQ(costs.at(0, 3).time, 1.1);
  EXPECT_DOUBLE_EQ(costs.at(0, 3).energy, 126 + 126 / 0.8);
}

TEST(CostTable, UnderOneLimitTheSlowestBoardEndsTheIteration) {
  Job job = small_job();
  // 120 W of a board that needs 120/110 as much for the same is 110 W of an ordinary one.
  job.board_efficiency = {1.0, 110.0 / 120.0};
  const CostTable costs(job);
  EXPECT_NEAR(costs.at(0, 2).time, 1.3, 1e-12);
  const double waiting = 1 + 0.2 * (1.3 - 1.2) / 1.2;
  EXPECT_NEAR(costs.at(0, 2).energy, 140 * 0.8 * waiting + 140 * 0.7 * 120 / 110, 1e-9);
}

}  // namespace
}  // namespace rubato::lab
