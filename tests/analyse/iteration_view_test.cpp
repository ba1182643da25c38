#include "analyse/iteration_view.h"

#include <gmock/gmock.h>

#include "made_iteration.h"

namespace rubato::analyse {
namespace {

using namespace testing_data;
using testing::IsEmpty;
using testing::SizeIs;

TEST(IterationView, OfARecordThatTellsNothingIsAbsent) {
  EXPECT_FALSE(iteration_view(MadeRun().ended()));
  EXPECT_FALSE(tuning_over(MadeRun().ended()));
}

TEST(IterationView, HasTheLatestStatementInUseAndTheOthersBeside) {
  const auto view = iteration_view(found_run());
  ASSERT_TRUE(view && view->in_use);
  EXPECT_EQ(view->in_use->estimate.source, ProgressSource::kernels);
  ASSERT_THAT(view->others, SizeIs(1));
  EXPECT_EQ(view->others[0].estimate.source, ProgressSource::telemetry);
  EXPECT_EQ(view->others[0].estimate.period, 0.4_s) << "the latest of it";
  EXPECT_FALSE(view->rate);
}

TEST(IterationView, WasFoundWithTheFirstPeriodInUseWhoeverTold) {
  const auto view = iteration_view(found_run());
  EXPECT_EQ(view->found, kBegin + 9_s);
  ASSERT_THAT(view->course, SizeIs(2));
  EXPECT_EQ(view->course[1].estimate.at, kBegin + 31_s);
}

TEST(IterationView, TheCourseLeavesOutWhatOnlyBecameSurer) {
  record::RunRecord run = MadeRun().ended();
  for (const double confidence : {0.6, 0.8, 0.99})
    run.statements.push_back(stated(confidence * 10_s, ProgressSource::telemetry, 0.4_s, confidence, true));
  run.statements.push_back(stated(20_s, ProgressSource::telemetry, 0.8_s, 0.9, true));
  run.statements.back().estimate.relation = PeriodRelation::multiple;
  const auto view = iteration_view(run);
  ASSERT_THAT(view->course, SizeIs(2));
  EXPECT_EQ(view->course[1].estimate.relation, PeriodRelation::multiple);
  EXPECT_EQ(view->in_use->estimate.period, 0.8_s);
}

TEST(IterationView, ARateStandsInOnlyWhereNoPeriodDoes) {
  EXPECT_TRUE(iteration_view(aperiodic_run())->rate);
  EXPECT_FALSE(iteration_view(aperiodic_run())->found);
  record::RunRecord later = aperiodic_run();
  later.statements.push_back(stated(100_s, ProgressSource::kernels, 0.4_s, 0.99, true));
  EXPECT_FALSE(iteration_view(later)->rate);
}

TEST(IterationView, WhereNoSourceWasSureEnoughAllAreOthers) {
  record::RunRecord run = MadeRun().ended();
  run.statements = {stated(10_s, ProgressSource::telemetry, 0.4_s, 0.3, false)};
  const auto view = iteration_view(run);
  EXPECT_FALSE(view->in_use);
  EXPECT_FALSE(view->found);
  EXPECT_THAT(view->course, IsEmpty());
  EXPECT_THAT(view->others, SizeIs(1));
}

TEST(IterationView, AutotuningThatBeganAgainIsNotOver) {
  record::RunRecord run = found_run();
  EXPECT_EQ(tuning_over(run)->at, kBegin + 12_s);
  run.decisions.push_back({kBegin + 50_s, "tuning", {}, "new shapes"});
  EXPECT_FALSE(tuning_over(run));
}

}  // namespace
}  // namespace rubato::analyse
