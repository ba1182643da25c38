#include "experiment/evidence_plan.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace rubato::experiment {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

KnobRanges v100() {
  KnobRanges out;
  out.limits = PowerLimits{100_W, 250_W, 250_W, 200_W, 200_W};
  for (double mhz = 135; mhz <= 1380; mhz += 7.5) out.sm.emplace_back(mhz);
  return out;
}

EvidencePlan planned(Seconds sensor_period, Seconds budget) {
  const auto plan = plan_evidence(v100(), sensor_period, budget, 1);
  EXPECT_TRUE(plan) << plan.error().what;
  return *plan;
}

TEST(EvidencePlan, HalfAnHourHoldsThreeKernelsWithRepeatsEvenOnASlowSensor) {
  for (const Seconds period : {Seconds(0.02), Seconds(0.1)}) {
    const EvidencePlan plan = planned(period, Seconds(1800));
    EXPECT_LE(plan.length(), Seconds(1800));
    EXPECT_GE(plan.length(), Seconds(1200)) << "the time it was given is for measuring";
    ASSERT_EQ(plan.runs.size(), 3);
    EXPECT_GE(plan.repeats, 2);
    EXPECT_GE(plan.switches.cycles, 5);
  }
}

TEST(EvidencePlan, AFasterSensorLeavesTimeForMoreSettings) {
  EXPECT_GT(planned(Seconds(0.02), Seconds(1800)).points.size(),
            planned(Seconds(0.1), Seconds(1800)).points.size());
}

TEST(EvidencePlan, LessTimeNeverMeansALongerPlan) {
  Seconds before{0};
  for (double minutes = 10; minutes <= 60; minutes += 2) {
    const Seconds length = planned(Seconds(0.1), Seconds(60 * minutes)).length();
    EXPECT_LE(length, Seconds(60 * minutes));
    EXPECT_GE(length, before);
    before = length;
  }
}

TEST(EvidencePlan, TooLittleTimeIsRefusedWithHowMuchIsNeededAndThatIsEnough) {
  const auto plan = plan_evidence(v100(), Seconds(0.1), Seconds(60), 1);
  ASSERT_FALSE(plan);
  ASSERT_THAT(plan.error().hint, HasSubstr("--minutes "));
  const double minutes = std::stod(plan.error().hint.substr(plan.error().hint.find(' ')));
  EXPECT_TRUE(plan_evidence(v100(), Seconds(0.1), Seconds(60 * minutes), 1));
}

TEST(EvidencePlan, ControlBlocksAreFoundOtherOtherFoundOnTheFirstKernelAlone) {
  const EvidencePlan plan = planned(Seconds(0.02), Seconds(1800));
  const EvidenceRun& first = plan.runs.front();
  ASSERT_EQ(first.steps.size(), first.sweep.size() + 4 * plan.blocks);
  const predict::KnobPoint found;
  const auto at = first.steps.begin() + static_cast<std::ptrdiff_t>(first.sweep.size());
  EXPECT_THAT(std::vector(at, at + 4), ElementsAre(found, plan.other, plan.other, found));
  EXPECT_NE(plan.other, found);
  EXPECT_EQ(plan.runs.back().steps.size(), plan.runs.back().sweep.size());
}

TEST(EvidencePlan, EverySettingOfTheSweepIsMeasuredAsOftenAsSaid) {
  const EvidencePlan plan = planned(Seconds(0.02), Seconds(1800));
  for (const EvidenceRun& run : plan.runs)
    for (const predict::KnobPoint& at : plan.points)
      EXPECT_EQ(std::count(run.steps.begin(),
                           run.steps.begin() + static_cast<std::ptrdiff_t>(run.sweep.size()), at),
                plan.repeats);
}

TEST(EvidencePlan, ClocksCanBeDroppedFromEveryStepOfIt) {
  EvidencePlan plan = planned(Seconds(0.02), Seconds(1800));
  drop_clocks(plan, 1);
  EXPECT_EQ(plan.switches.targets.size(), 1);
  for (const EvidenceRun& run : plan.runs) {
    EXPECT_GE(run.steps.size(), plan.repeats * plan.points.size());
    for (const predict::KnobPoint& at : run.steps) EXPECT_FALSE(at.sm_clock);
  }
  EXPECT_EQ(plan.runs.front().steps.size(), plan.runs.front().sweep.size() + 4 * plan.blocks);
}

TEST(EvidencePlan, AKnobThatCannotBeSetIsInNoStep) {
  KnobRanges limits = v100();
  limits.sm.clear();
  const auto plan = plan_evidence(limits, Seconds(0.02), Seconds(1800), 1);
  ASSERT_TRUE(plan);
  for (const auto& at : plan->points) EXPECT_FALSE(at.sm_clock);
  EXPECT_EQ(plan->switches.targets.size(), 1);

  KnobRanges clocks = v100();
  clocks.limits.reset();
  const auto other = plan_evidence(clocks, Seconds(0.02), Seconds(1800), 1);
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->other.sm_clock);

  EXPECT_EQ(plan_evidence({}, Seconds(0.02), Seconds(1800), 1).error().code, ErrorCode::not_supported);
}

}  // namespace
}  // namespace rubato::experiment
