#include "period_truth/judge.h"

#include <gtest/gtest.h>

#include "period_truth/table.h"

namespace rubato::period_truth {
namespace {

using progress::TelemetryFacts;
using progress::TelemetryPoint;

IterationEstimate period_of(double seconds, PeriodRelation relation = PeriodRelation::exact,
                            double confidence = 0.95) {
  IterationEstimate estimate;
  estimate.periodic = true;
  estimate.period = Seconds(seconds);
  estimate.relation = relation;
  estimate.confidence = confidence;
  return estimate;
}

IterationEstimate no_period(std::string why) {
  IterationEstimate estimate;
  estimate.confidence = 0.95;
  estimate.why = std::move(why);
  return estimate;
}

/// Iterations of 2 s for a minute, read each 0.1 s.
Trace steady_trace() {
  Trace trace;
  trace.truth.median_s = 2;
  trace.truth.observable = true;
  trace.truth.update_s = 0.1;
  trace.truth.reading_s = 0.1;
  for (int i = 0; i < 30; ++i) trace.truth.marks.push_back({2.0 * i, 2.0 * (i + 1), 0});
  for (int i = 1; i < 600; ++i) {
    TelemetryPoint point;
    point.at = TimePoint{} + Seconds(0.1 * i);
    point.power = Watts(100);
    trace.points.push_back(point);
  }
  return trace;
}

/// Says one thing up to a moment, another from then on.
class Scripted final : public progress::PeriodDetector {
 public:
  Scripted(std::optional<IterationEstimate> first, double change_s, std::optional<IterationEstimate> then)
      : first_(std::move(first)), then_(std::move(then)), change_s_(change_s) {}
  [[nodiscard]] std::string_view name() const override { return "scripted"; }
  void add(const TelemetryPoint& point) override { now_s_ = point.at.since_epoch().value(); }
  [[nodiscard]] std::optional<IterationEstimate> estimate() const override {
    return now_s_ < change_s_ ? first_ : then_;
  }
  [[nodiscard]] progress::PeriodSummary summary() const override {
    progress::PeriodSummary summary;
    summary.verdict = estimate();
    return summary;
  }

 private:
  std::optional<IterationEstimate> first_;
  std::optional<IterationEstimate> then_;
  double change_s_;
  double now_s_ = 0;
};

Verdict scripted(const Trace& trace, const std::optional<IterationEstimate>& first, double change_s,
                 const std::optional<IterationEstimate>& then) {
  return run_detector(
      trace, [&](const TelemetryFacts&) { return std::make_unique<Scripted>(first, change_s, then); });
}

TEST(Judge, TakesTwoPercentForExactAndNoMore) {
  const Truth truth = steady_trace().truth;
  EXPECT_EQ(judge(period_of(2.039), truth, 2), Outcome::exact);
  EXPECT_EQ(judge(period_of(2.041), truth, 2), Outcome::wrong);
  EXPECT_EQ(judge(period_of(4), truth, 2), Outcome::wrong);
  EXPECT_EQ(judge(period_of(1), truth, 2), Outcome::wrong);
}

TEST(Judge, TakesAMultipleOnlyWhereItIsSaidToBeOne) {
  const Truth truth = steady_trace().truth;
  EXPECT_EQ(judge(period_of(6.1, PeriodRelation::multiple), truth, 2), Outcome::multiple);
  EXPECT_EQ(judge(period_of(7, PeriodRelation::multiple), truth, 2), Outcome::wrong);
  EXPECT_EQ(judge(period_of(1, PeriodRelation::multiple), truth, 2), Outcome::wrong);
  // Within 2 % of 40 iterations, but nobody can tell of how many.
  EXPECT_EQ(judge(period_of(80.9, PeriodRelation::multiple), truth, 2), Outcome::wrong);
  EXPECT_EQ(judge(period_of(130, PeriodRelation::multiple), truth, 2), Outcome::wrong);
}

TEST(Judge, KnowsTheBeatBetweenIterationAndSensor) {
  Truth truth = steady_trace().truth;
  truth.update_s = 0.1;
  // 12.5 Hz seen ten times a second: 2.5 Hz.
  EXPECT_EQ(judge(period_of(0.4, PeriodRelation::beat), truth, 0.08), Outcome::beat);
  EXPECT_EQ(judge(period_of(0.45, PeriodRelation::beat), truth, 0.08), Outcome::wrong);
  EXPECT_EQ(judge(period_of(0.4), truth, 0.08), Outcome::wrong);
}

TEST(Judge, TakesThePartOnlyWhereTheWholeIsHidden) {
  Truth truth = steady_trace().truth;
  EXPECT_EQ(judge(period_of(0.5), truth, 2), Outcome::wrong);
  truth.parts = 4;
  EXPECT_EQ(judge(period_of(0.5), truth, 2), Outcome::part);
  EXPECT_EQ(judge(period_of(1), truth, 2), Outcome::wrong);
}

TEST(Judge, TakesTheEpochOnlyWhereTheIterationIsHidden) {
  Truth truth = steady_trace().truth;
  EXPECT_EQ(judge(period_of(25), truth, 2), Outcome::wrong);
  truth.epoch_s = 25;
  EXPECT_EQ(judge(period_of(25), truth, 2), Outcome::epoch);
}

TEST(Judge, TakesEitherOfTwoClocksWhereTheMedianLiesBetweenThem) {
  Truth truth = steady_trace().truth;
  truth.observable = false;
  truth.medians_s = {2, 3};
  EXPECT_EQ(judge(period_of(3.01), truth, 2), Outcome::exact);
  EXPECT_EQ(judge(period_of(2.5), truth, 2), Outcome::wrong);
}

TEST(Judge, WantsAReasonWhereThereIsNoPeriod) {
  const Truth truth = steady_trace().truth;
  EXPECT_EQ(judge(no_period("nothing repeats"), truth, 2), Outcome::aperiodic);
  EXPECT_EQ(judge(no_period(""), truth, 2), Outcome::wrong);
  EXPECT_EQ(judge(std::nullopt, truth, 2), Outcome::undecided);
}

TEST(Judge, CountsTheDecisionFromTheFirstIteration) {
  Trace trace = steady_trace();
  trace.truth.begin_s = 4;
  const Verdict verdict = scripted(trace, std::nullopt, 16, period_of(2));
  EXPECT_TRUE(verdict.right);
  EXPECT_TRUE(verdict.first_right);
  EXPECT_NEAR(*verdict.decided_after_s, 12, 0.11);
  EXPECT_NEAR(*verdict.decision_ratio(), 1, 0.01);
}

TEST(Judge, RemembersWhatWasSaidOnTheWay) {
  const Verdict verdict = scripted(steady_trace(), period_of(3), 20, period_of(2));
  EXPECT_TRUE(verdict.right);
  EXPECT_FALSE(verdict.first_right);
  EXPECT_NEAR(verdict.sure_and_wrong_s, 20, 0.2);
  EXPECT_FALSE(verdict.sure_and_wrong());
}

TEST(Judge, LetsAStatementLagBehindAChangeAndNotForLong) {
  Trace trace = steady_trace();
  trace.truth.marks.resize(15);  // 2 s up to 30 s, then 3 s
  for (int i = 0; i < 10; ++i) trace.truth.marks.push_back({30 + 3.0 * i, 33 + 3.0 * i, 0});
  const Verdict prompt = scripted(trace, period_of(2), 38, period_of(3));
  EXPECT_EQ(prompt.sure_and_wrong_s, 0);
  const Verdict late = scripted(trace, period_of(2), 55, period_of(3));
  EXPECT_GT(late.sure_and_wrong_s, 1);
}

TEST(Judge, HoldsObservableIterationsToTheExactPeriod) {
  Trace trace = steady_trace();
  const auto multiple = period_of(4, PeriodRelation::multiple);
  const Verdict coarse = scripted(trace, multiple, 0, multiple);
  EXPECT_FALSE(coarse.right);
  EXPECT_FALSE(coarse.sure_and_wrong()) << "a multiple is not all, but it is true";
  const Verdict denied = scripted(trace, no_period("flat"), 0, no_period("flat"));
  EXPECT_TRUE(denied.sure_and_wrong());
  EXPECT_FALSE(scripted(trace, no_period("flat"), 0, no_period("flat")).right);
  EXPECT_FALSE(scripted(trace, std::nullopt, 0, std::nullopt).right);
  trace.truth.observable = false;
  EXPECT_TRUE(scripted(trace, multiple, 0, multiple).right);
  EXPECT_TRUE(scripted(trace, no_period("flat"), 0, no_period("flat")).right);
  EXPECT_TRUE(scripted(trace, std::nullopt, 0, std::nullopt).right);
  EXPECT_FALSE(scripted(trace, period_of(3), 0, period_of(3)).right);
}

TEST(Judge, WantsToHearThatThereIsNoPeriodWhereThereIsNone) {
  Trace trace = steady_trace();
  trace.truth = Truth();
  EXPECT_TRUE(scripted(trace, no_period("random"), 0, no_period("random")).right);
  EXPECT_FALSE(scripted(trace, std::nullopt, 0, std::nullopt).right);
  const Verdict wrong = scripted(trace, period_of(1), 0, period_of(1));
  EXPECT_EQ(wrong.outcome, Outcome::wrong);
  EXPECT_TRUE(wrong.sure_and_wrong());
  EXPECT_FALSE(
      scripted(trace, period_of(1, PeriodRelation::multiple), 0, period_of(1, PeriodRelation::multiple))
          .right);
}

TEST(Quantiles, CountThoseWhoNeverDecidedAsLatest) {
  EXPECT_EQ(quantile_of({1, 2, 3}, 0.5, 3), 2);
  EXPECT_EQ(quantile_of({1, 2, 3}, 0.5, 6), 3);
  EXPECT_EQ(quantile_of({1, 2, 3}, 0.9, 6), std::nullopt);
  EXPECT_EQ(quantile_of({}, 0.5, 0), std::nullopt);
}

}  // namespace
}  // namespace rubato::period_truth
