#include "predict/physical/posterior.h"

#include <gtest/gtest.h>

#include <cmath>

#include "predict/physical/pattern.h"
#include "predict/physical/prior.h"

namespace rubato::predict::physical {
namespace {

Belief prior() {
  return {starting_prior().mean, starting_prior().deviation.cwiseAbs2().asDiagonal()};
}

/// Eight SM clocks of a workload that waits for the SMs, without noise.
Evidence measured() {
  Parameters truth = starting_prior().mean;
  truth[compute_share] = 2;
  truth[static_share] = -2;
  Evidence e;
  for (int i = 0; i < 8; ++i) e.at.push_back({.sm = 1 - 0.08 * i, .memory = 1, .bandwidth = 1, .cap = {}});
  e.value = responses(truth, e.at);
  e.offset = Eigen::VectorXd::Zero(16);
  e.noise = Eigen::VectorXd::Constant(16, 1e-4);
  e.own = Eigen::MatrixXd::Zero(16, 16);
  return e;
}

TEST(Posterior, FindsTheCurveThatWasMeasured) {
  const Evidence e = measured();
  const Posterior p = posterior(prior(), e, prior().mean, 12);
  EXPECT_LT((p.fitted - e.value).cwiseAbs().maxCoeff(), 0.01);
  EXPECT_LT(p.belief.covariance(compute_share, compute_share),
            0.5 * prior().covariance(compute_share, compute_share));
}

TEST(Posterior, ARowThatIsFarOffCountsForLittle) {
  Evidence e = measured();
  const Posterior clean = posterior(prior(), e, prior().mean, 12);
  e.value[3] += 0.2;
  const Posterior spoilt = posterior(prior(), e, prior().mean, 12);
  EXPECT_LT(spoilt.weight[3], 0.1);
  EXPECT_LT((spoilt.fitted - clean.fitted).cwiseAbs().maxCoeff(), 0.02);
}

TEST(Pattern, AClockThatIsNotHonouredIsRecognisedFromWhatAllWorkloadsDoThere) {
  // Requests for 0.5 reach 0.4.
  const std::vector<double> clocks = {1.0, 0.8, 0.6, 0.5};
  std::vector<Place> places;
  std::vector<Situation> asked;
  std::vector<Situation> reached;
  for (const double clock : clocks) {
    places.emplace_back(0, std::log(clock), 0);
    asked.push_back({.sm = clock, .memory = 1, .bandwidth = 1, .cap = {}});
    reached.push_back({.sm = clock == 0.5 ? 0.4 : clock, .memory = 1, .bandwidth = 1, .cap = {}});
  }
  std::vector<Evidence> evidence;
  std::vector<Posterior> posteriors;
  for (const double compute : {1.0, 1.5, 2.0, 2.5}) {
    Parameters w = starting_prior().mean;
    w[compute_share] = compute;
    Evidence e;
    e.at = asked;
    e.value = responses(w, reached);
    e.offset = Eigen::VectorXd::Zero(8);
    e.noise = Eigen::VectorXd::Constant(8, 1e-4);
    e.own = Eigen::MatrixXd::Zero(8, 8);
    evidence.push_back(e);
    Posterior p;
    p.belief.mean = w;
    p.fitted = responses(w, asked);
    p.weight = Eigen::VectorXd::Ones(8);
    posteriors.push_back(p);
  }
  std::vector<Pattern::Seen> seen;
  for (std::size_t i = 0; i < evidence.size(); ++i)
    seen.push_back({.places = &places,
                    .asked = &asked,
                    .evidence = &evidence[i],
                    .posterior = &posteriors[i],
                    .departure_time = 1e-4,
                    .departure_power = 1e-4});
  const Pattern found = Pattern::improved(Pattern::flat(places), seen);
  EXPECT_NEAR(std::exp(found.at(places[3])[2]), 0.8, 0.06);
  EXPECT_NEAR(std::exp(found.at(places[0])[2]), 1.0, 0.04);
}

}  // namespace
}  // namespace rubato::predict::physical
