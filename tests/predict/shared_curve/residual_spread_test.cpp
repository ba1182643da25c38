#include "predict/shared_curve/residual_spread.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace rubato::predict::shared_curve {
namespace {

/// One direction, 0.1 to 0.5 along it; coefficients and noise as told.
std::vector<CurveRows> lines(std::vector<Eigen::VectorXd>& residuals, double coefficient, double noise) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<CurveRows> out;
  for (int i = 0; i < 400; ++i) {
    CurveRows rows;
    rows.hinges = Eigen::VectorXd::LinSpaced(5, 0.1, 0.5);
    rows.expanded = rows.hinges;
    rows.covariates = Eigen::VectorXd::Zero(1);
    rows.group = i % 40;
    const double b = coefficient * normal(random);
    const double at_default = noise * normal(random);
    Eigen::VectorXd r(5);
    for (Eigen::Index k = 0; k < 5; ++k) r[k] = b * rows.hinges(k, 0) + noise * normal(random) - at_default;
    residuals.push_back(r);
    out.push_back(rows);
  }
  set_weights(out);
  return out;
}

TEST(ResidualSpread, TellsCurvesApartFromNoise) {
  std::vector<Eigen::VectorXd> residuals;
  const auto curves = lines(residuals, 0.4, 0.01);
  const ResidualSpread spread = fit_spread(curves, residuals);
  EXPECT_NEAR(std::abs(spread.root(0, 0)), 0.4, 0.06);
  EXPECT_NEAR(std::sqrt(spread.noise_variance(Eigen::VectorXd::Zero(1))), 0.01, 0.003);
}

TEST(ResidualSpread, OneProbeFixesACurveOfOneDirection) {
  const ResidualSpread spread{Eigen::MatrixXd::Constant(1, 1, 0.4), std::log(1e-6), 0};
  const Eigen::MatrixXd hinges = Eigen::VectorXd::LinSpaced(5, 0.1, 0.5);
  const Eigen::VectorXd mean = Eigen::VectorXd::Zero(5);
  const Measured probe{hinges.bottomRows(1), Eigen::VectorXd::Zero(1), Eigen::VectorXd::Constant(1, 0.2),
                       Eigen::VectorXd::Constant(1, 1e-6)};
  const Believed before = believe(spread, 1e-6, hinges, mean, {Eigen::MatrixXd(0, 1), {}, {}, {}});
  const Believed after = believe(spread, 1e-6, hinges, mean, probe);
  EXPECT_NEAR(after.mean[0], 0.04, 1e-3);  // 0.2 at 0.5, so 0.04 at 0.1
  EXPECT_NEAR(before.factor.row(4).norm(), 0.2, 1e-3);
  EXPECT_LT(after.factor.row(4).norm(), 0.005);
}

TEST(ResidualSpread, ANoisyDefaultMovesTheWholeCurveWhenAProbeSaysSo) {
  // Nothing differs but the default's noise.
  const ResidualSpread spread{Eigen::MatrixXd::Zero(1, 1), std::log(1e-4), 0};
  const Eigen::MatrixXd hinges = Eigen::VectorXd::LinSpaced(3, 0.1, 0.3);
  const Eigen::VectorXd mean = Eigen::VectorXd::Zero(3);
  const Measured probe{hinges.topRows(1), Eigen::VectorXd::Zero(1), Eigen::VectorXd::Constant(1, -0.02),
                       Eigen::VectorXd::Constant(1, 1e-4)};
  const Believed after = believe(spread, 1e-4, hinges, mean, probe);
  // As likely the default's as the probe's.
  for (const double m : after.mean) EXPECT_NEAR(m, -0.01, 1e-6);
}

TEST(ResidualSpread, RefusesARootThatIsNotSquare) {
  const auto read = ResidualSpread::read({{"root", {{1.0, 2.0}}}, {"log_noise", -9}, {"log_noise_slope", 0}});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace rubato::predict::shared_curve
