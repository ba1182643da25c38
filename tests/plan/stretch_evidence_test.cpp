#include "plan/stretch_evidence.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <vector>

#include "made_belief.h"

namespace rubato::plan {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Four settings of one knob, two curves, and stretches of two eras that come back to their settings.
struct Case {
  Case() {
    places << -0.4, -0.25, -0.1, 0;
    curves << 0.09, 0.30, 0.05, 0.21, 0.02, 0.1, 0, 0;
    scale << 0.03, 0.02, 0.01, 0;
  }
  MatrixXd places = MatrixXd(4, 1);
  MatrixXd curves = MatrixXd(4, 2);
  VectorXd scale = VectorXd(4);
  std::vector<MeasuredStretch> seen = {
      measured(3, 5),         measured(1, 20, 1.06),         measured(3, 35, 1.01),
      measured(1, 50, 1.065), measured(2, 70, 1.10, 0.9, 1), measured(3, 90, 1.07, 1, 1)};
  Unrest unrest{.drift = 0.005, .warm_up = 0.01};
};

Explained explained(const Case& c) {
  const SeenStretches stretches = seen_stretches(c.seen, c.places);
  return explain(
      c.scale, stretches,
      seen_values(c.seen, stretches, &MeasuredStretch::log_time, &MeasuredStretch::time_variance, c.curves),
      c.unrest, 2);
}

// What is asked of curves at the settings that were seen is, stretch by stretch, the density of a normal.
TEST(StretchEvidence, ACurveIsAsLikelyAsTheNormalOfAllStretchesHasIt) {
  const Case c;
  const SeenStretches stretches = seen_stretches(c.seen, c.places);
  const auto n = static_cast<Index>(c.seen.size());
  MatrixXd covariance(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      const MeasuredStretch& a = c.seen[static_cast<std::size_t>(i)];
      const MeasuredStretch& b = c.seen[static_cast<std::size_t>(j)];
      const auto x = static_cast<Index>(a.at);
      const Index y = stretches.at[static_cast<std::size_t>(j)];
      covariance(i, j) = 4 * c.scale[x] * c.scale[static_cast<Index>(b.at)] * stretches.alike(x, y);
      if (i == j) covariance(i, j) += a.time_variance;
      if (a.era != b.era) continue;
      const double when = (a.when + b.when).value();
      covariance(i, j) += 1 + 0.005 * 0.005 * drift_together(a, b) +
                          0.01 * 0.01 * (std::exp(-when / 60) + std::exp(-when / 150));
    }
  const Explained found = explained(c);
  for (Index curve = 0; curve < 2; ++curve) {
    VectorXd off(n);
    for (Index i = 0; i < n; ++i) {
      const MeasuredStretch& s = c.seen[static_cast<std::size_t>(i)];
      off[i] = s.log_time - c.seen.front().log_time - c.curves(static_cast<Index>(s.at), curve);
    }
    const double density =
        -0.5 * off.dot(covariance.inverse() * off) - 0.5 * std::log(covariance.determinant());
    EXPECT_NEAR(found.score[curve], density, 1e-6 * std::abs(density)) << curve;
  }
  EXPECT_GT(std::abs(found.score[0] - found.score[1]), 0.5) << "the two are told apart";
}

TEST(StretchEvidence, OfNothingSeenEveryCurveIsAsLikely) {
  Case c;
  c.seen.clear();
  const Explained found = explained(c);
  EXPECT_EQ(found.score, VectorXd::Zero(2));
  EXPECT_EQ(found.told.size(), 0);
}

TEST(StretchEvidence, AnIndefiniteCovarianceExplainsNothing) {
  Case c;
  c.seen[2].time_variance = -10;
  EXPECT_EQ(explained(c).score.maxCoeff(), -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace rubato::plan
