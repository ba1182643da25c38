#include "plan/pipeline/stage_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rubato::plan {
namespace {

using testing::HasSubstr;

constexpr const char* kHeader = "stage,instruction,frequency,time,energy\n";
constexpr const char* kWhole =
    "0,forward,1410,0.1,40\n0,backward,1410,0.2,80\n1,forward,1410,0.1,40\n1,backward,1410,0.2,80\n"
    "0,forward,705,0.15,30\n0,backward,705,0.3,60\n1,forward,705,0.15,30\n1,backward,705,0.3,60\n";

std::string refused(const std::string& text) {
  const auto read = read_stage_profile(text, "p.csv");
  return read ? "it was taken" : read.error().what;
}

TEST(StageProfile, FiguresInOtherUnitsAreRefused) {
  const std::string header = kHeader;
  EXPECT_THAT(refused(header + "0,forward,1.41,0.05,23\n"),
              HasSubstr("line 2: column frequency: '1.41' is no clock in MHz"));
  EXPECT_THAT(refused(header + "0,forward,141000,0.05,23\n"), HasSubstr("no clock in MHz"));
  EXPECT_THAT(refused(header + "0,forward,1410,0.05,23000\n"), HasSubstr("are the units mixed?"));
}

TEST(StageProfile, IsReadWithTheHighestClockFirst) {
  const auto read = read_stage_profile(std::string(kHeader) + kWhole, "p.csv");
  ASSERT_TRUE(read) << read.error().what;
  ASSERT_EQ(read->stages.size(), 2U);
  const auto& backward = read->stages[1].of(PipelinePass::backward);
  ASSERT_EQ(backward.size(), 2U);
  EXPECT_EQ(backward[0].frequency, 1410_MHz);
  EXPECT_EQ(backward[1].time, 0.3_s);
  EXPECT_EQ(backward[1].energy, 60_J);
}

TEST(StageProfile, ColumnsMayStandInAnotherOrder) {
  const auto read = read_stage_profile(
      "energy,time,frequency,instruction,stage\n3,0.1,900,forward,0\n6,0.2,900,backward,0\n", "p");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->stages[0].of(PipelinePass::backward)[0].energy, 6_J);
}

TEST(StageProfile, WhatIsWrongInALineIsNamedWithIt) {
  const std::string head = kHeader;
  EXPECT_THAT(refused("stage,instruction,frequency,time,energy,power\n"),
              HasSubstr("line 1: unknown column 'power'"));
  EXPECT_THAT(refused("stage,instruction,time,energy\n"), HasSubstr("line 1: column frequency is missing"));
  EXPECT_THAT(refused("stage,stage,instruction,frequency,time,energy\n"), HasSubstr("twice"));
  EXPECT_THAT(refused(head + "0,forward,1410,fast,40\n"),
              HasSubstr("line 2: column time: 'fast' is no number"));
  EXPECT_THAT(refused(head + "0,forward,1410,nan,40\n"), HasSubstr("line 2: column time"));
  EXPECT_THAT(refused(head + "0,forward,1410,0,40\n"), HasSubstr("must be above zero"));
  EXPECT_THAT(refused(head + "0,sideways,1410,0.1,40\n"), HasSubstr("neither forward nor backward"));
  EXPECT_THAT(refused(head + "-1,forward,1410,0.1,40\n"), HasSubstr("column stage"));
  EXPECT_THAT(refused(head + "0,forward,1410,0.1\n"), HasSubstr("line 2: it has 4 cells"));
  EXPECT_THAT(refused(head + kWhole + "0,forward,1410,0.1,41\n"),
              HasSubstr("line 10: stage 0 forward at 1410 MHz stood in line 2 already"));
}

TEST(StageProfile, HolesAreNamed) {
  const std::string head = kHeader;
  EXPECT_THAT(refused(head), HasSubstr("no row"));
  EXPECT_THAT(refused(""), HasSubstr("no header line"));
  EXPECT_THAT(refused(head + "0,forward,1410,0.1,40\n"), HasSubstr("stage 0 has no backward"));
  EXPECT_THAT(
      refused(
          head +
          "0,forward,1410,0.1,40\n0,backward,1410,0.1,40\n2,forward,1410,0.1,40\n2,backward,1410,0.1,40\n"),
      HasSubstr("stage 1 has no forward"));
  EXPECT_THAT(refused(head + kWhole + "1,forward,900,0.13,35\n"),
              HasSubstr("stage 0 forward has no row at 900 MHz"));
}

TEST(StageProfile, AStragglerTakesLongerAtThePowerItHad) {
  const auto profile = read_stage_profile(std::string(kHeader) + kWhole, "p.csv");
  const auto slow = slowed(*profile, 1, 1.5);
  ASSERT_TRUE(slow);
  EXPECT_NEAR(slow->stages[1].of(PipelinePass::forward)[0].time.value(), 0.15, 1e-12);
  EXPECT_NEAR(slow->stages[1].of(PipelinePass::forward)[0].energy.value(), 60, 1e-12);
  EXPECT_EQ(slow->stages[0].of(PipelinePass::forward)[0].time, 0.1_s);
  EXPECT_FALSE(slowed(*profile, 2, 1.5));
  EXPECT_FALSE(slowed(*profile, 0, 0.5));
}

}  // namespace
}  // namespace rubato::plan
