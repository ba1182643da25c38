#include "experiment/sweep_grid.h"

#include <gmock/gmock.h>

namespace rubato::experiment {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SweepGrid, ARangeHasBothItsEnds) {
  EXPECT_THAT(parse_knob_values("power-limit=100:250:25")->values,
              ElementsAre(100, 125, 150, 175, 200, 225, 250));
}

TEST(SweepGrid, ARangeWhoseStepMissesTheUpperEndStopsBelowIt) {
  EXPECT_THAT(parse_knob_values("power-limit=100:190:50")->values, ElementsAre(100, 150));
}

TEST(SweepGrid, StepsThatAreNoBinaryNumbersStillMeetTheUpperEnd) {
  EXPECT_EQ(parse_knob_values("sm-clock=705:735:7.5")->values.size(), 5U);
}

TEST(SweepGrid, AListIsSortedAndHasEachValueOnce) {
  const auto knob = parse_knob_values("sm-clock=1410,705,1410");
  ASSERT_TRUE(knob);
  EXPECT_EQ(knob->knob, Knob::sm_clock);
  EXPECT_THAT(knob->values, ElementsAre(705, 1410));
}

TEST(SweepGrid, WhatMakesNoSenseIsRefusedWithAnExample) {
  for (const char* text : {"power-limit", "power-limit=", "power-limit=100:250", "power-limit=250:100:25",
                           "fan=3", "power-limit=100:250:0", "power-limit=-1,2", "sm-clock=nan",
                           "application-clocks=1,2", "power-limit=1:900000:0.001"}) {
    const auto knob = parse_knob_values(text);
    ASSERT_FALSE(knob) << text;
    EXPECT_EQ(knob.error().code, ErrorCode::invalid_argument) << text;
    EXPECT_THAT(knob.error().hint, HasSubstr("--knob power-limit=")) << text;
  }
}

TEST(SweepGrid, TwoKnobsMakeEveryCombination) {
  const std::vector<KnobValues> knobs = {{Knob::power_limit, {100, 200}}, {Knob::sm_clock, {700, 1400}}};
  const auto grid = grid_of(knobs);
  ASSERT_TRUE(grid);
  ASSERT_EQ(grid->size(), 4U);
  EXPECT_EQ(describe((*grid)[1]), "100 W, SM 1400 MHz");
}

TEST(SweepGrid, AKnobGivenTwiceIsRefused) {
  const std::vector<KnobValues> knobs = {{Knob::power_limit, {100}}, {Knob::power_limit, {200}}};
  EXPECT_THAT(grid_of(knobs).error().what, HasSubstr("twice"));
}

TEST(SweepGrid, AGridOfTooManyRunsIsRefused) {
  const std::vector<double> many(200, 1.0);
  const std::vector<KnobValues> knobs = {{Knob::power_limit, many}, {Knob::sm_clock, many}};
  EXPECT_FALSE(grid_of(knobs));
}

}  // namespace
}  // namespace rubato::experiment
