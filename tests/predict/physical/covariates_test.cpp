#include "predict/physical/covariates.h"

#include <gtest/gtest.h>

namespace rubato::predict::physical {
namespace {

constexpr Regression::Prior kPrior{.mean = 0, .deviation = 2, .spread = 1};

/// Eight workloads in four groups; the parameter is twice the covariate.
Trained eight() {
  Trained t{.covariates = Eigen::VectorXd::LinSpaced(8, -1.75, 1.75), .group = {0, 1, 2, 3, 0, 1, 2, 3}};
  return t;
}

TEST(Regression, FollowsACovariateThatTells) {
  const Trained t = eight();
  const Regression r(t, kPrior, 2 * t.covariates.col(0), Eigen::VectorXd::Constant(8, 0.01));
  EXPECT_NEAR(r.mean(Eigen::VectorXd::Constant(1, 1.0)), 2.0, 0.3);
  EXPECT_NEAR(r.mean(Eigen::VectorXd::Constant(1, -1.0)), -2.0, 0.3);
}

TEST(Regression, IgnoresACovariateThatSaysNothing) {
  const Trained t = eight();
  Eigen::VectorXd value(8);
  value << 1, 1.1, 0.9, 1, 1.1, 0.9, 1, 1.05;
  const Regression r(t, kPrior, value, Eigen::VectorXd::Constant(8, 0.01));
  EXPECT_NEAR(r.mean(Eigen::VectorXd::Constant(1, 2.0)), 1.0, 0.15);
}

TEST(Regression, WithoutAGroupIsWhatTheOthersAloneSayOfIt) {
  const Trained t = eight();
  Eigen::VectorXd value(8);
  value << 0.3, -1, 2, 0.5, 1.2, -0.7, 0.1, 0.9;
  const Eigen::VectorXd variance = Eigen::VectorXd::Constant(8, 0.1);
  const Regression all(t, kPrior, value, variance);

  const std::vector<Eigen::Index> others = {1, 2, 3, 5, 6, 7};
  Trained rest{.covariates = t.covariates(others, Eigen::all), .group = {0, 1, 2, 0, 1, 2}};
  Regression::State state = all.state();
  state.value = value(others).eval();
  state.variance = variance(others).eval();
  const Regression without(rest, state);
  EXPECT_NEAR(all.without_group()[0], without.mean(t.covariates.row(0)), 1e-9);
  EXPECT_NEAR(all.without_group()[4], without.mean(t.covariates.row(4)), 1e-9);
}

TEST(Regression, IsLessSureWhereNothingWasSeen) {
  const Trained t = eight();
  const Regression r(t, kPrior, 2 * t.covariates.col(0), Eigen::VectorXd::Constant(8, 0.01));
  EXPECT_GT(r.doubt(Eigen::VectorXd::Constant(1, 6.0)), 2 * r.doubt(Eigen::VectorXd::Constant(1, 0.0)));
}

TEST(Standardised, DoesNotReachBeyondWhatWasSeen) {
  Eigen::MatrixXd raw(4, 1);
  raw << 1, 2, 3, 4;
  const Standardised s(raw);
  EXPECT_NEAR(s(Eigen::VectorXd::Constant(1, 2.5))[0], 0, 1e-9);
  EXPECT_EQ(s(Eigen::VectorXd::Constant(1, 100.0)), s(Eigen::VectorXd::Constant(1, 50.0)));
}

}  // namespace
}  // namespace rubato::predict::physical
