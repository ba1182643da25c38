#include "predict/physical/shape.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "predict/physical/prior.h"

namespace rubato::predict::physical {
namespace {

Situation at_sm(double sm) {
  return {.sm = sm, .memory = 1, .bandwidth = 1, .cap = {}};
}

Situation at_cap(double cap) {
  return {.sm = 1, .memory = 1, .bandwidth = 1, .cap = cap};
}

Parameters workload(double share_of_compute) {
  Parameters w = starting_prior().mean;
  w[log_power] = 0;
  w[fixed_share] = -6;
  w[clock_floor] = -6;
  w[sharpness] = 2;
  w[compute_share] = share_of_compute;
  return w;
}

/// Up to two prior deviations from the prior's mean.
rc::Gen<Parameters> any_workload() {
  return rc::gen::map(rc::gen::container<std::vector<int>>(kParameters, rc::gen::inRange(-200, 201)),
                      [](const std::vector<int>& draws) {
                        Parameters w = starting_prior().mean;
                        for (Eigen::Index k = 0; k < kParameters; ++k)
                          w[k] += starting_prior().deviation[k] * draws[static_cast<std::size_t>(k)] / 100.0;
                        return w;
                      });
}

TEST(Shape, WorkThatWaitsForTheSmsTakesTwiceAsLongAtHalfTheirClock) {
  const Eigen::VectorXd y = responses(workload(5), std::vector{at_sm(1), at_sm(0.5)});
  EXPECT_NEAR(std::exp(y[1] - y[0]), 2.0, 0.02);
}

TEST(Shape, WorkThatWaitsForMemoryIsFlatAboveItsKneeAndSteepBelow) {
  const auto at = std::vector{at_sm(1), at_sm(0.8), at_sm(0.2), at_sm(0.1)};
  const Eigen::VectorXd y = responses(workload(-1), at);
  EXPECT_LT(y[1] - y[0], 0.01);
  EXPECT_GT(y[3] - y[2], 0.6);
}

TEST(Shape, BelowTheVoltageFloorALowerClockNoLongerSavesEnergyPerWork) {
  const auto at = std::vector{at_sm(1), at_sm(0.6), at_sm(0.25)};
  const Eigen::VectorXd y = responses(workload(5), at);
  const auto log_energy = [&](Eigen::Index i) { return y[i] + y[3 + i]; };
  EXPECT_LT(log_energy(1), log_energy(0));
  EXPECT_GT(log_energy(2), log_energy(1));
}

TEST(Shape, ACapFarAboveThePowerChangesNothingAndOneBelowItIsKept) {
  const auto at = std::vector{at_cap(5), at_cap(3), at_cap(0.7)};
  const Eigen::VectorXd y = responses(workload(2), at);
  EXPECT_NEAR(y[0], y[1], 1e-6);
  EXPECT_GT(y[2], y[0]);
  EXPECT_NEAR(std::exp(y[3 + 2]), 0.7, 0.03);
}

TEST(Shape, ACapJustAboveTheMeanPowerAlreadyBitesWherePhasesDiffer) {
  Parameters w = workload(2);
  w[phase_spread] = std::log(0.3);
  const Eigen::VectorXd y = responses(w, std::vector{at_cap(5), at_cap(1.1)});
  EXPECT_GT(y[1] - y[0], 0.005);
  EXPECT_LT(std::exp(y[3]), 1.0);
}

RC_GTEST_PROP(Shape, ALowerClockIsNeverFasterAndNeverDrawsMore, ()) {
  const Parameters w = *any_workload();
  const double high = *rc::gen::inRange(15, 101) / 100.0;
  const double low = high - *rc::gen::inRange(0, 10) / 100.0;
  const Eigen::VectorXd y = responses(w, std::vector{at_sm(high), at_sm(low)});
  RC_ASSERT(y[1] >= y[0] - 1e-9);
  RC_ASSERT(y[3] <= y[2] + 1e-9);
}

RC_GTEST_PROP(Shape, ALowerCapIsNeverFaster, ()) {
  const Parameters w = *any_workload();
  const double high = *rc::gen::inRange(20, 200) / 100.0;
  const double low = high * *rc::gen::inRange(50, 101) / 100.0;
  const Eigen::VectorXd y = responses(w, std::vector{at_cap(high), at_cap(low)});
  RC_ASSERT(y[1] >= y[0] - 1e-6);
}

// Only of one phase: of several, a cap stretches the thirsty ones, and their larger share of the time can
// draw the mean up by more than the cap takes from each.
RC_GTEST_PROP(Shape, ALowerCapNeverDrawsMoreInOnePhase, ()) {
  Parameters w = *any_workload();
  w[phase_spread] = -20;
  const double high = *rc::gen::inRange(20, 200) / 100.0;
  const double low = high * *rc::gen::inRange(50, 101) / 100.0;
  const Eigen::VectorXd y = responses(w, std::vector{at_cap(high), at_cap(low)});
  RC_ASSERT(y[3] <= y[2] + 1e-6);
}

RC_GTEST_PROP(Shape, SlopesSayWhereASmallMoveLeads, ()) {
  const Parameters w = *any_workload();
  const auto at = std::vector{at_sm(1), at_sm(0.7), at_sm(0.4)};
  const Slopes s = slopes(w, at);
  const Parameters move = Parameters::Constant(0.005);
  const Eigen::VectorXd there = responses(w + move, at);
  RC_ASSERT((s.value + s.slope * move - there).cwiseAbs().maxCoeff() < 2e-3);
}

}  // namespace
}  // namespace rubato::predict::physical
