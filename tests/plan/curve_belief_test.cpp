#include "plan/curve_belief.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "made_belief.h"

namespace rubato::plan {
namespace {

// Settings 0 to 3, found at 3: a job that limits hardly slow, and one that they slow a lot.
const MadeCurve kFlat = {{1.03, 0.70}, {1.02, 0.80}, {1.01, 0.90}, {1, 1}};
const MadeCurve kSteep = {{1.30, 0.90}, {1.20, 0.95}, {1.10, 0.97}, {1, 1}};
const double kBound = std::log(1.05);

CurveBelief either() {
  return belief_of({kFlat, kSteep});
}

TEST(CurveBelief, BeforeAnythingIsMeasuredItIsTheMiddleOfTheCurves) {
  const CurveBelief belief = either();
  EXPECT_NEAR(belief.log_time(0), (std::log(1.03) + std::log(1.30)) / 2, 1e-6);
  EXPECT_NEAR(belief.energy(1), (0.80 + 0.95) / 2, 1e-6);
  EXPECT_GT(belief.holds(0, kBound), 0.25);  // half, less what the flat curve may be wrong by
  EXPECT_LT(belief.holds(0, kBound), 0.5);
  EXPECT_GT(belief.log_time_deviation(0), 0.1);
}

TEST(CurveBelief, TheFoundSettingIsItsOwnMeasure) {
  CurveBelief belief = either();
  belief.fit(std::vector{measured(3, 5, 1.1), measured(0, 20, 1.03, 0.7)});
  EXPECT_NEAR(belief.time(3), 1, 1e-9);
  EXPECT_NEAR(belief.energy(3), 1, 1e-9);
  EXPECT_NEAR(belief.log_time_deviation(3), 0, 1e-9);
}

TEST(CurveBelief, AMeasuredSettingIsBelieved) {
  CurveBelief belief = either();
  belief.fit(std::vector{measured(3, 5), measured(1, 20, 1.035, 0.82), measured(3, 35)});
  EXPECT_NEAR(belief.time(1), 1.035, 0.003);
  EXPECT_NEAR(belief.energy(1), 0.82, 0.005);
  EXPECT_LT(belief.log_time_deviation(1), 0.005);
}

// A sum over settings errs together as far as what was seen of them leaves it so: with the found setting
// hardly seen, its error is in all of them; with it known well, each errs for itself.
TEST(CurveBelief, ErrorsOfASumAddUpAsFarAsTheyAreOne) {
  const auto added_up = [](double found_variance, double others_variance) {
    CurveBelief belief = belief_of({kSteep, kSteep});
    std::vector seen = {measured(3, 5), measured(0, 20, 1.30, 0.90), measured(2, 35, 1.10, 0.97)};
    for (auto& s : seen) s.time_variance = s.at == 3 ? found_variance : others_variance;
    belief.fit(seen);
    EXPECT_NEAR(belief.log_time_deviation(std::vector{0.0, 0.0, 7.0, 0.0}), 7 * belief.log_time_deviation(2),
                1e-6);
    return belief.log_time_deviation(std::vector{1.0, 0.0, 1.0, 0.0}) /
           (belief.log_time_deviation(0) + belief.log_time_deviation(2));
  };
  EXPECT_GT(added_up(4e-6, 1e-9), 0.97);
  const double own = added_up(1e-9, 4e-6);  // .71 if what the curve is wrong by were not alike at both
  EXPECT_GT(own, 0.70);
  EXPECT_LT(own, 0.80);
}

// A board is mostly found without a lock, so its found setting names no clock.
TEST(CurveBelief, ClocksAreApartWhereTheFoundSettingNamesNone) {
  const std::vector<predict::KnobPoint> at = {
      {.sm_clock = 900_MHz}, {.sm_clock = 1350_MHz}, {.sm_clock = 1380_MHz}, {}};
  predict::Draws draws{Eigen::MatrixXd::Zero(4, 2), Eigen::MatrixXd::Zero(4, 2)};
  draws.log_time.col(0) << 0.10, 0.05, 0.04, 0;
  draws.log_time.col(1) << 0.20, 0.10, 0.09, 0;
  draws.log_power.col(0) << -0.3, -0.2, -0.1, 0;
  draws.log_power.col(1) << -0.4, -0.3, -0.2, 0;
  CurveBelief belief(at, 3, draws);
  // Slow below and hardly slower above, as no curve has it.
  belief.fit(std::vector{measured(3, 5), measured(0, 20, 1.30, 0.8), measured(3, 35),
                         measured(1, 50, 1.01, 0.9), measured(3, 65)});
  EXPECT_NEAR(belief.time(0), 1.30, 0.01);
  EXPECT_NEAR(belief.time(1), 1.01, 0.01);
  EXPECT_NEAR(belief.time(2), 1.01, 0.02) << "beside one that was measured";
}

TEST(CurveBelief, OneSettingTellsWhichCurveItIsEverywhere) {
  CurveBelief belief = either();
  const double before = belief.holds(0, kBound);
  belief.fit(std::vector{measured(3, 5), measured(2, 20, 1.01, 0.9), measured(3, 35)});
  EXPECT_GT(belief.holds(0, kBound), 1.8 * before);
  EXPECT_NEAR(belief.time(0), 1.03, 0.02);
  belief.fit(std::vector{measured(3, 5), measured(2, 20, 1.10, 0.97), measured(3, 35)});
  EXPECT_LT(belief.holds(0, kBound), 0.05);
}

TEST(CurveBelief, WhatWasSeenBeforeIsForgottenByTheNextFit) {
  CurveBelief belief = either();
  const double before = belief.time(0);
  belief.fit(std::vector{measured(3, 5), measured(0, 20, 1.3, 0.9)});
  EXPECT_NE(belief.time(0), before);
  belief.fit({});
  EXPECT_EQ(belief.time(0), before);
}

TEST(CurveBelief, ErasDoNotMix) {
  // The job costs a tenth more since the second era: 1.12 there is 1.02 over its own found setting.
  CurveBelief belief = belief_of({kFlat});
  const std::vector same = {measured(3, 5), measured(1, 20, 1.122, 0.88), measured(3, 35, 1.1, 1.1)};
  std::vector apart = same;
  apart[1].era = apart[2].era = 1;
  belief.fit(apart);
  EXPECT_NEAR(belief.time(1), 1.02, 0.004);
  EXPECT_LT(belief.drift(), 0.002);
  belief.fit(same);
  EXPECT_GT(belief.drift(), 0.01);
}

TEST(CurveBelief, DriftWidensWhatIsBelieved) {
  CurveBelief still = belief_of({kFlat, kSteep});
  CurveBelief drifting = belief_of({kFlat, kSteep});
  std::vector<MeasuredStretch> a;
  std::vector<MeasuredStretch> b;
  for (int i = 0; i < 6; ++i) {
    const double moved = i % 2 == 0 ? 1.01 : 0.99;
    a.push_back(measured(3, 60 + 60.0 * i));
    b.push_back(measured(3, 60 + 60.0 * i, moved, moved));
  }
  a.push_back(measured(1, 500, 1.02, 0.8));
  b.push_back(measured(1, 500, 1.02, 0.8));
  still.fit(a);
  drifting.fit(b);
  EXPECT_LT(still.drift(), 0.001);
  EXPECT_GT(drifting.drift(), 0.004);
  EXPECT_GT(drifting.log_time_deviation(1), 2 * still.log_time_deviation(1));
}

TEST(CurveBelief, WhatDriftsIsAsAlikeAsItsMeansOverTwoStretches) {
  const auto over = [](double begin_s, double end_s) {
    MeasuredStretch out = measured(0, (begin_s + end_s) / 2);
    out.span = Seconds(end_s - begin_s);
    return out;
  };
  const auto moments = [&](double apart_s) { return drift_together(over(0, 1), over(apart_s, apart_s + 1)); };
  EXPECT_NEAR(moments(0), 1, 0.005);
  EXPECT_NEAR(moments(200), std::exp(-1), 0.005) << "200 s is its memory";
  // Halves of a stretch make it up, whatever lies between.
  const double halves =
      (drift_together(over(0, 300), over(0, 300)) + drift_together(over(300, 600), over(300, 600))) / 4 +
      drift_together(over(0, 300), over(300, 600)) / 2;
  EXPECT_NEAR(drift_together(over(0, 600), over(0, 600)), halves, 1e-9);
  EXPECT_LT(drift_together(over(0, 36'000), over(0, 36'000)), 0.012) << "a mean over hours hardly drifts";
  EXPECT_LT(drift_together(over(0, 36'000), over(17'999, 18'001)), 0.012) << "and tells little of a moment";
}

TEST(CurveBelief, ADifferenceSeenAtManyTimesIsKnownThoughTheJobDrifts) {
  const auto deviation = [](double drifted) {
    CurveBelief belief = belief_of({kFlat, kSteep});
    std::vector<MeasuredStretch> seen;
    for (int i = 0; i < 6; ++i) {
      const double moved = i % 2 == 0 ? 1.01 : 0.99;
      seen.push_back(measured(3, 60 + 60.0 * i, moved, moved));
    }
    for (const std::size_t at : {3U, 1U}) {
      seen.push_back(measured(at, 0, at == 1 ? 1.02 : 1, at == 1 ? 0.8 : 1, -1));
      seen.back().span = Seconds(0);
      seen.back().drifted = at == 1 ? drifted : 0;
    }
    belief.fit(seen);
    return belief.log_time_deviation(1);
  };
  EXPECT_LT(deviation(0.002), 0.5 * deviation(0.2));
}

// In a long run the first row is what many stretches became.
TEST(CurveBelief, ARowThatComesFirstMayLieLaterThanOthers) {
  CurveBelief belief = belief_of({kFlat});
  std::vector rows = {measured(3, 2000), measured(1, 20, 1.035, 0.82), measured(3, 40)};
  for (int i = 0; i < 40; ++i) rows.push_back(measured(1, 100 + 200.0 * i, 1.035, 0.82));
  belief.fit(rows);
  EXPECT_NEAR(belief.time(1), 1.035, 0.001);
  EXPECT_LT(belief.log_time_deviation(1), 0.002);
}

TEST(CurveBelief, AGainIsExpectedOnlyOfWhatMayKeepTheBound) {
  CurveBelief belief = either();
  const double unsure = belief.expected_gains(kBound, 0, 0)[0];
  EXPECT_NEAR(unsure, belief.holds(0, kBound) * 0.30, 0.01);  // of the flat curve
  EXPECT_LT(belief.expected_gains(kBound, 0.25, 0)[0], unsure);
  belief.fit(std::vector{measured(3, 5), measured(2, 20, 1.10, 0.97), measured(3, 35)});
  EXPECT_LT(belief.expected_gains(kBound, 0, 0)[0], 0.01);
}

TEST(CurveBelief, AGainNetOfIdleIsLargerAndOneOfEdpKnowsTheTime) {
  CurveBelief belief = either();
  const auto gain = [&](double host_share, double delay) {
    return belief.expected_gains(kBound, 0, host_share, delay)[0];
  };
  // What the board draws anyway is saved by nobody: of the rest the same joules are more.
  EXPECT_GT(gain(-0.2, 0), gain(0, 0));
  EXPECT_LT(gain(0.2, 0), gain(0, 0));
  CurveBelief slower = belief_of({kSteep});
  const auto of = [&](double delay) { return slower.expected_gains(std::log(2.0), 0, 0, delay)[0]; };
  EXPECT_LT(of(2), of(1));
  EXPECT_LT(of(1), of(0));
}

}  // namespace
}  // namespace rubato::plan
