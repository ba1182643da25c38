#include "device/replay/board.h"

#include <gmock/gmock.h>

#include "device_replay/made_table.h"

namespace rubato::device::replay {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Error refusal(std::string_view rows, std::optional<Seconds> iteration = {}) {
  const auto board = Board::make(source_of(rows, iteration));
  EXPECT_FALSE(board);
  return board ? Error{} : board.error();
}

TEST(Board, HasTheKnobsItsTableSweepsAndSaysWhyNotTheOthers) {
  const Board board = board_of(kLimits);
  EXPECT_EQ(board.title(), "V100 replaying net");
  EXPECT_TRUE(board.default_assumed());
  EXPECT_EQ(board.why_not(Knob::power_limit), "");
  EXPECT_THAT(board.why_not(Knob::sm_clock), HasSubstr("does not sweep the SM clock"));
  EXPECT_NE(board.why_not(Knob::application_clocks), "");
  const PowerLimits limits = board.limits(board.default_knobs());
  EXPECT_EQ(limits.min, 100_W);
  EXPECT_EQ(limits.max, 200_W);
  EXPECT_EQ(limits.requested, 200_W);
  Knobs knobs = board.default_knobs();
  EXPECT_EQ(board.lock_sm(knobs, {900_MHz, 900_MHz}).error().code, ErrorCode::not_supported);
  EXPECT_EQ(board.unlock_memory(knobs).error().code, ErrorCode::not_supported);
}

TEST(Board, ALimitActsAsTheTableSays) {
  const Board board = board_of(kLimits);
  Knobs knobs = board.default_knobs();
  EXPECT_EQ(board.at(knobs).time, 2_s);
  ASSERT_TRUE(board.set_limit(knobs, 150_W));
  EXPECT_EQ(board.at(knobs).time, Seconds(2.5));
  EXPECT_EQ(board.at(knobs).power, 140_W);
  EXPECT_TRUE(board.at(knobs).on_row);
  ASSERT_TRUE(board.set_limit(knobs, 151_W));
  const Point between = board.at(knobs);
  EXPECT_FALSE(between.on_row);
  EXPECT_TRUE(between.time > 2_s && between.time < Seconds(2.5));
  EXPECT_TRUE(between.power > 140_W && between.power < 200_W);
}

TEST(Board, ALimitOutsideOrBetweenStepsIsRefused) {
  const Board board = board_of(kLimits);
  Knobs knobs = board.default_knobs();
  for (const Watts wrong : {99_W, 201_W, Watts(150.5), Watts(-1), Watts(std::nan(""))})
    EXPECT_EQ(board.set_limit(knobs, wrong).error().code, ErrorCode::invalid_argument) << cat(wrong);
  EXPECT_THAT(board.set_limit(knobs, 99_W).error().what, AllOf(HasSubstr("100 W"), HasSubstr("200 W")));
  EXPECT_EQ(knobs.limit_w, 200);
}

TEST(Board, PowerIsWhatMakesTheEnergy) {
  EXPECT_EQ(board_of("V,net,g,100,,,2,99,200\n").at({}).power, 100_W);
}

TEST(Board, UnlockedItRunsAsTheDefaultRowEvenWhereThatNamesNoClock) {
  const Board board = board_of(kClocks);
  EXPECT_FALSE(board.default_assumed());
  EXPECT_THAT(board.sm_clocks(), ElementsAre(1087_MHz, 1095_MHz, 1102_MHz));
  Knobs knobs = board.default_knobs();
  EXPECT_EQ(board.at(knobs).power, 200_W);
  EXPECT_EQ(board.sm_clock(knobs), std::nullopt);
  ASSERT_TRUE(board.lock_sm(knobs, {1087_MHz, 1102_MHz}));
  EXPECT_EQ(board.at(knobs).power, 110_W) << "under a lock work runs at its upper end";
  EXPECT_EQ(board.sm_clock(knobs), 1102_MHz);
  ASSERT_TRUE(board.lock_sm(knobs, {1095_MHz, 1095_MHz}));
  EXPECT_FALSE(board.at(knobs).on_row);
  ASSERT_TRUE(board.unlock_sm(knobs));
  EXPECT_EQ(board.at(knobs).power, 200_W);
  EXPECT_TRUE(board.at(knobs).on_row);
}

TEST(Board, AClockItDoesNotHaveIsRefusedWithTheNearest) {
  const Board board = board_of(kClocks);
  Knobs knobs = board.default_knobs();
  const Status locked = board.lock_sm(knobs, {1090_MHz, 1102_MHz});
  ASSERT_FALSE(locked);
  EXPECT_THAT(locked.error().hint, HasSubstr("1087 MHz"));
  EXPECT_FALSE(board.lock_sm(knobs, {1102_MHz, 1087_MHz})) << "upside down";
  EXPECT_EQ(knobs.has_sm_lock, 0U);
}

TEST(Board, OneOtherRowIsACurveOfOnePoint) {
  const Board board = board_of("V,net,g,,1005,,2,100,200\nV,net,g,,,,1,250,250\n");
  Knobs knobs = board.default_knobs();
  EXPECT_EQ(board.at(knobs).time, 1_s);
  ASSERT_TRUE(board.lock_sm(knobs, {1005_MHz, 1005_MHz}));
  EXPECT_EQ(board.at(knobs).time, 2_s);
}

TEST(Board, TwoKnobsMoveTogether) {
  const Board board = board_of(kTwoKnobs);
  Knobs knobs = board.default_knobs();
  ASSERT_TRUE(board.set_limit(knobs, 150_W));
  ASSERT_TRUE(board.lock_sm(knobs, {1050_MHz, 1050_MHz}));
  EXPECT_DOUBLE_EQ(board.at(knobs).time.value(), 3.25);
  // The limit may hold the clock below its lock, and the table does not tell.
  EXPECT_EQ(board.sm_clock(knobs), std::nullopt);
}

TEST(Board, IterationsMayBeShorterThanTheTablesUnitOfWork) {
  const Board board = board_of(kLimits, Seconds(0.5));
  Knobs knobs = board.default_knobs();
  EXPECT_DOUBLE_EQ(board.at(knobs).time.value(), 0.5);
  ASSERT_TRUE(board.set_limit(knobs, 100_W));
  EXPECT_DOUBLE_EQ(board.at(knobs).time.value(), 1.0);
  EXPECT_EQ(board.at(knobs).power, 90_W);
  EXPECT_THAT(refusal("V,net,g,100,,,1e-9,1,1\n").hint, HasSubstr("@SECONDS"));
}

TEST(Board, AGridWithAHoleIsRefusedAndTheHoleNamed) {
  const Error error =
      refusal("A,net,g,100,900,,4,80,320\nA,net,g,200,900,,3,100,300\nA,net,g,200,1200,,2,200,400\n");
  EXPECT_THAT(error.what, AllOf(HasSubstr("'net'"), HasSubstr("power-limit 100, sm-clock 1200")));
}

TEST(Board, ARowWhosePlaceIsNotKnownIsRefused) {
  EXPECT_THAT(refusal("V,net,g,,,,1,200,200\nV,net,g,100,,,2,90,180\n").what,
              HasSubstr("leaves power-limit empty"));
  EXPECT_THAT(refusal("V,net,g,100,900,,1,200,200\nV,net,g,100,,,2,90,180\nV,net,g,200,900,,2,90,180\n").what,
              HasSubstr("leaves sm-clock empty"));
}

TEST(Board, ThreeKnobsAreTooMany) {
  EXPECT_EQ(refusal("A,net,g,100,900,800,4,80,320\nA,net,g,200,1000,810,3,100,300\n").code,
            ErrorCode::not_supported);
}

}  // namespace
}  // namespace rubato::device::replay
