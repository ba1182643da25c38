#include "cli/live_line.h"

#include <gmock/gmock.h>

#include <vector>

namespace rubato::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TimePoint at(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

progress::Ruling ruling(double seconds, double period, ProgressSource source = ProgressSource::telemetry) {
  IterationEstimate estimate;
  estimate.at = at(seconds);
  estimate.source = source;
  estimate.periodic = true;
  estimate.period = Seconds(period);
  estimate.confidence = 0.978;
  estimate.half_width = 0.003;
  progress::Ruling out;
  out.estimate = estimate;
  return out;
}

class LiveLineTest : public testing::Test {
 protected:
  std::vector<std::string> said_;
  LiveLine live_{at(0), [this](const std::string& line) { said_.push_back(line); }, 3};
};

TEST_F(LiveLineTest, TheIterationIsToldWithItsBandItsSourceAndHowSureItIs) {
  live_.found(ruling(8.1, 0.5));
  EXPECT_THAT(said_, ElementsAre("after 8.1 s: iteration 0.5 s ± 0.3 %, from telemetry, 97 % sure"));
}

TEST_F(LiveLineTest, WhatOtherSourcesSayStandsBeside) {
  auto told = ruling(8.1, 0.5, ProgressSource::marks);
  told.checks.push_back({ProgressSource::kernels, true, 1.0, "it finds the same period"});
  live_.found(told);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("from marks, 97 % sure; kernels: it finds the same period")));
}

TEST_F(LiveLineTest, ABreathOfThePeriodIsNoNewsAndAnotherSourceIs) {
  live_.found(ruling(8, 0.5));
  live_.found(ruling(20, 0.51));
  EXPECT_THAT(said_, SizeIs(1));
  live_.found(ruling(30, 0.51, ProgressSource::kernels));
  EXPECT_THAT(said_, SizeIs(2));
}

TEST_F(LiveLineTest, AMultipleIsNotCalledTheIteration) {
  auto told = ruling(8, 0.7);
  told.estimate->relation = PeriodRelation::multiple;
  live_.found(told);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("a multiple of the iteration: 0.7 s")));
}

TEST_F(LiveLineTest, NoPeriodIsAnAnswerToo) {
  progress::Ruling none;
  none.estimate = IterationEstimate{.at = at(30), .confidence = 0.9, .why = "nothing repeats"};
  live_.found(none);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("no iteration in telemetry, 90 % sure: nothing repeats")));
}

TEST_F(LiveLineTest, AJobThatKeepsChangingFallsSilentAndSaysSo) {
  for (int i = 0; i < 10; ++i) live_.shifted(GpuId{"GPU-1"}, Shift{.at = at(i), .why = "power rose"});
  EXPECT_THAT(said_, SizeIs(3));
  EXPECT_THAT(said_.back(), HasSubstr("the report tells"));
}

record::Decision decision(double seconds, const std::string& action, const Setting& setting) {
  return {at(seconds), action, setting, "because"};
}

TEST_F(LiveLineTest, TriesAndWhatIsHeldAreToldOnceEach) {
  const Setting low{.power_limit = 150_W};
  live_.decided(decision(5, "baseline", {}));
  live_.decided(decision(20, "trial", low));
  live_.decided(decision(40, "hold", low));
  live_.decided(decision(60, "control", {}));
  live_.decided(decision(65, "hold", low));
  EXPECT_THAT(said_, ElementsAre("after 20 s: trying 150 W: because", "after 40 s: holding 150 W: because"));
}

TEST_F(LiveLineTest, TimeSharedBetweenTwoSettingsIsNoNewsAtEachTurn) {
  for (int turn = 0; turn < 5; ++turn) {
    live_.decided(decision(60 * turn, "hold", {.power_limit = 150_W}));
    live_.decided(decision(60 * turn + 30, "hold", {.power_limit = 160_W}));
  }
  EXPECT_THAT(said_, SizeIs(2));
}

TEST_F(LiveLineTest, AReasonThatNamesTheTryIsNotIntroducedAgain) {
  record::Decision trial = decision(20, "trial", {.power_limit = 150_W});
  trial.why = "trying 150 W: it would save 5 %";
  live_.decided(trial);
  EXPECT_THAT(said_, ElementsAre("after 20 s: trying 150 W: it would save 5 %"));
}

TEST_F(LiveLineTest, WhatWasSavedIsToldAtGrowingDistancesWithBandAndKind) {
  conduct::SoFar so_far{.kind = Kind::modelled,
                        .saved = {.value = 0.123, .half_width = 0.004},
                        .slower = {.value = 0.001, .half_width = 0.002}};
  for (int seconds = 10; seconds <= 200; seconds += 10) {
    so_far.at = at(seconds);
    live_.so_far(so_far, seconds, {.power_limit = 150_W});
  }
  ASSERT_THAT(said_, SizeIs(2));
  EXPECT_EQ(said_[0],
            "after 60 s: iteration 60 at 150 W: 12.3 % ± 0.4 % less energy and no difference in time beyond "
            "± 0.2 % so "
            "far (modelled, 90 % sure)");
  EXPECT_THAT(said_[1], HasSubstr("after 120 s"));
}

}  // namespace
}  // namespace rubato::cli
