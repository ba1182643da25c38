#include "govern/layer_plan/phase_clock.h"

#include <gmock/gmock.h>
#include <rubato/mark_layout.h>

#include "made_plan.h"

namespace rubato::govern {
namespace {

using testing::HasSubstr;

/// From 0 to `count` iterations of one second.
PhaseClock after(int count) {
  PhaseClock clock(made_plan());
  for (int i = 0; i < count; ++i) run_iteration(clock, i);
  return clock;
}

std::string why(const PhaseClock& clock, double at) {
  const auto reading = clock.at(at_s(at));
  return reading ? "ready" : reading.error().what;
}

TEST(PhaseClock, PredictsTheIterationUnderWayFromThoseSeen) {
  const auto reading = after(8).at(at_s(9.4));
  ASSERT_TRUE(reading) << reading.error().what;
  EXPECT_NEAR((reading->begin - at_s(9)).value(), 0, 1e-6);
  EXPECT_NEAR(reading->period.value(), 1, 1e-6);
  ASSERT_EQ(reading->starts.size(), 3U);
  EXPECT_EQ(reading->starts[0], 0);
  EXPECT_NEAR(reading->starts[1], 0.3, 1e-6);
  EXPECT_NEAR(reading->starts[2], 0.9, 1e-6);
}

TEST(PhaseClock, MeasuredPassesTakeThePlaceOfThePlansShares) {
  PhaseClock clock(made_plan());
  for (int i = 0; i < 8; ++i) run_iteration(clock, i, 1, 0.4, 0.8);
  EXPECT_EQ(clock.measured(), 2U);
  const auto reading = clock.at(at_s(8));
  ASSERT_TRUE(reading);
  EXPECT_NEAR(reading->starts[1], 0.4, 1e-6);
  EXPECT_NEAR(reading->starts[2], 0.8, 1e-6);
}

TEST(PhaseClock, FollowsAPeriodThatDrifts) {
  PhaseClock clock(made_plan());
  double at = 0;
  double length = 1;
  for (int i = 0; i < 60; ++i) {
    run_iteration(clock, at, length);
    at += length;
    length *= 1.0005;
  }
  const auto reading = clock.at(at_s(at + 0.5));
  ASSERT_TRUE(reading) << reading.error().what;
  EXPECT_NEAR(reading->period.value(), length, 0.01 * length);
  EXPECT_NEAR((reading->begin - at_s(at)).value(), 0, 0.02);
}

TEST(PhaseClock, NeedsIterationsAndSaysHowMany) {
  EXPECT_THAT(why(PhaseClock(made_plan()), 1), HasSubstr("no kernel records"));
  EXPECT_THAT(why(after(4), 4), HasSubstr("only 2 of 4"));  // the first begins nowhere
  EXPECT_EQ(why(after(6), 6), "ready");
}

TEST(PhaseClock, RecordsWithoutLayersTellNoBegin) {
  PhaseClock clock(made_plan());
  for (int i = 0; i < 20; ++i) clock.add(kernel(i, i + 0.9, 0));
  EXPECT_THAT(why(clock, 20), HasSubstr("neither layers nor phases"));
}

TEST(PhaseClock, StopsWhereRecordsAreLost) {
  PhaseClock clock = after(8);
  EXPECT_EQ(why(clock, 12), "ready");
  EXPECT_THAT(why(clock, 17), HasSubstr("s old"));
}

TEST(PhaseClock, AMissedCycleIsBridgedAndAForeignStretchIsNot) {
  PhaseClock clock = after(8);
  clock.cycle_ended(at_s(8));
  for (int i = 10; i < 12; ++i) run_iteration(clock, i + 0.1);  // the job went on meanwhile, a little later
  const auto reading = clock.at(at_s(12.5));
  ASSERT_TRUE(reading) << reading.error().what;
  EXPECT_NEAR((reading->begin - at_s(12.1)).value(), 0, 1e-6);
  for (int i = 0; i < 30; ++i) clock.add(kernel(12.2 + 0.1 * i, 12.25 + 0.1 * i, 5));  // an evaluation
  EXPECT_THAT(why(clock, 15.3), HasSubstr("something else"));
}

TEST(PhaseClock, APauseIsNoIterationAndHasToBeFollowedByOne) {
  PhaseClock clock = after(8);
  for (int i = 0; i < 20; ++i) clock.add(kernel(8 + 0.1 * i, 8.05 + 0.1 * i, 5));
  run_iteration(clock, 10);
  EXPECT_THAT(why(clock, 10.5), HasSubstr("another time"));
  run_iteration(clock, 11);
  clock.add(kernel(12, 12.1, 1));
  const auto reading = clock.at(at_s(12.5));
  ASSERT_TRUE(reading) << reading.error().what;
  EXPECT_NEAR(reading->period.value(), 1, 1e-6);
}

TEST(PhaseClock, IterationsThatScatterMoreThanTheShortestStretchBearsAreRefused) {
  PhaseClock clock(made_plan());
  double at = 0;
  for (int i = 0; i < 12; ++i) {
    const double length = i % 2 == 0 ? 1.03 : 0.97;
    run_iteration(clock, at, length);
    at += length;
  }
  EXPECT_THAT(why(clock, at), HasSubstr("the shortest stretch between two changes lasts 400 ms"));
}

std::uint64_t id_of_name(std::string_view name) {
  std::uint64_t hash = RUBATO_MARK_HASH_OFFSET;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * RUBATO_MARK_HASH_PRIME;
  return hash;
}

TEST(PhaseClock, LayersTellAForwardPhasesBeginByTheirName) {
  plan::LayerPlan plan = made_plan();
  plan.phases.resize(2);
  plan.phases[1] = {"late", "fc", LayerPass::forward, kSlow, Seconds(0.7), Joules(60)};
  PhaseClock clock(plan);
  for (int i = 0; i < 8; ++i) {
    clock.add(kernel(i, i + 0.3, id_of_name("conv1")));
    clock.add(kernel(i + 0.4, i + 0.6, id_of_name("late")));
    clock.add(kernel(i + 0.7, i + 0.9, id_of_name("fc")));
  }
  const auto reading = clock.at(at_s(8));
  ASSERT_TRUE(reading) << reading.error().what;
  EXPECT_EQ(clock.measured(), 1U);
  EXPECT_NEAR(reading->starts[1], 0.4, 1e-6) << "the plan says 0.3";
}

/// Forward through three layers and back; the second phase begins at the middle one of the backward pass.
PhaseClock inside_the_backward_pass(bool named) {
  plan::LayerPlan plan = made_plan();
  plan.phases.resize(2);
  plan.phases[1] = {"middle", "conv1", LayerPass::backward, kSlow, Seconds(0.7), Joules(60), false};
  PhaseClock clock(plan);
  const auto layer = [&](const char* name, std::uint64_t pass) { return named ? id_of_name(name) : pass; };
  for (int i = 0; i < 8; ++i) {
    clock.add(kernel(i, i + 0.1, layer("conv1", 1)));
    clock.add(kernel(i + 0.1, i + 0.15, layer("middle", 1)));
    clock.add(kernel(i + 0.15, i + 0.2, layer("middle", 1)));
    clock.add(kernel(i + 0.2, i + 0.3, layer("fc", 1)));
    clock.add(kernel(i + 0.3, i + 0.6, layer("fc", 2)));
    clock.add(kernel(i + 0.6, i + 0.9, layer("middle", 2)));
  }
  return clock;
}

TEST(PhaseClock, APhaseInsideTheBackwardPassBeginsWhereItsLayerComesAgain) {
  const PhaseClock clock = inside_the_backward_pass(true);
  const auto reading = clock.at(at_s(8));
  ASSERT_TRUE(reading) << reading.error().what;
  EXPECT_EQ(clock.measured(), 1U);
  EXPECT_NEAR(reading->starts[1], 0.6, 1e-6);
}

TEST(PhaseClock, WhereRecordsTellPassesAloneItBeginsAtThePlansShareAndNotWithItsPass) {
  const PhaseClock clock = inside_the_backward_pass(false);
  const auto reading = clock.at(at_s(8));
  ASSERT_TRUE(reading) << reading.error().what;
  EXPECT_EQ(clock.measured(), 0U);
  EXPECT_NEAR(reading->starts[1], 0.3, 1e-6);
}

TEST(PhaseClock, AFirstLayerThatRunsTwiceInAnIterationTellsNoBegin) {
  PhaseClock clock(made_plan());
  for (int i = 0; i < 12; ++i)
    for (const double at : {0.0, 0.85}) {
      clock.add(kernel(i + at, i + at + 0.05, id_of_name("conv1")));
      clock.add(kernel(i + at + 0.06, i + at + 0.1, id_of_name("bn1")));
    }
  EXPECT_THAT(why(clock, 12), HasSubstr("scatter"));
}

TEST(PhaseClock, AnotherPaceIsForeseen) {
  PhaseClock clock = after(8);
  clock.pace_changed(1.1);
  const auto reading = clock.at(at_s(8.05));
  ASSERT_TRUE(reading);
  EXPECT_NEAR(reading->period.value(), 1.1, 1e-6);
}

}  // namespace
}  // namespace rubato::govern
