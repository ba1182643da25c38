#include "predict/layers/ridges.h"

#include <gtest/gtest.h>

namespace rubato::predict {
namespace {

// 10 SMs of compute capability 8.6 on a 128-bit bus: a clock does 20 * 128 operations in single precision,
// 20 * 512 on the tensor cores, and moves 32 bytes.
BoardFigures board() {
  BoardFigures out;
  out.profile = "small";
  out.peaks = {8, 6, 10, 128, Megahertz(2000), Megahertz(1000)};
  out.clocks = {{Megahertz(100), {Megahertz(200), Megahertz(400)}},
                {Megahertz(1000), {Megahertz(200), Megahertz(1000), Megahertz(2000)}}};
  out.sm_default = Megahertz(1000);
  out.memory_default = Megahertz(1000);
  out.sm_reference = Megahertz(2000);
  out.memory_reference = Megahertz(1000);
  out.compute = Watts(100);
  out.limit = Watts(150);
  out.voltage = {{Megahertz(1000), 0.8}};
  return out;
}

TEST(Ridges, lie_where_compute_and_memory_take_equally_long) {
  const auto rows = ridges_of(board(), Precision::fp32);
  ASSERT_TRUE(rows) << rows.error().what;
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_DOUBLE_EQ(rows->at(1).by_default->dense, 80);
  EXPECT_DOUBLE_EQ(rows->at(1).highest.dense, 160);
  EXPECT_DOUBLE_EQ(rows->at(1).lowest.dense, 16);
  EXPECT_DOUBLE_EQ(rows->at(0).highest.dense, 320);
  EXPECT_FALSE(rows->at(0).by_default) << "its default clock is not legal at that memory clock";
}

TEST(Ridges, are_those_of_the_pipe_a_precision_multiplies_on) {
  EXPECT_DOUBLE_EQ(ridges_of(board(), Precision::fp16)->at(1).by_default->dense, 320);
  EXPECT_DOUBLE_EQ(ridges_of(board(), Precision::fp16)->at(1).by_default->elementwise, 80);
  EXPECT_DOUBLE_EQ(ridges_of(board(), Precision::tf32)->at(1).by_default->dense, 160);
}

TEST(Ridges, of_a_board_without_peak_rates_are_refused) {
  BoardFigures unknown = board();
  unknown.peaks.sm_count.reset();
  const auto none = ridges_of(unknown, Precision::fp32);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().what.find("'small'"), std::string::npos);
}

}  // namespace
}  // namespace rubato::predict
