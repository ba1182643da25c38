#include "plan/belief.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "beliefs.h"

namespace rubato::plan {
namespace {

constexpr Belief kCorrelated{
    .time = 0.03, .energy = -0.1, .time_variance = 0.0016, .energy_variance = 0.0025, .covariance = -0.0012};

// What the closed forms say, by drawing.
struct Drawn {
  double mean = 0;
  double saving_inside = 0;
  std::vector<double> values;
};

Drawn draw(const Belief& b, double energy_power, double time_power, double host_share, double bound) {
  Random random(7);
  const double slope = b.covariance / b.time_variance;
  const double rest = std::sqrt(b.energy_variance - b.covariance * slope);
  Drawn out;
  constexpr int kDraws = 200000;
  for (int k = 0; k < kDraws; ++k) {
    const double off = std::sqrt(b.time_variance) * random.normal();
    const double time = b.time + off;
    const double energy = b.energy + slope * off + rest * random.normal();
    const double objective =
        ((1 - host_share) * std::exp(energy_power * energy) + host_share * std::exp(time)) *
        std::exp(time_power * time);
    out.values.push_back(objective);
    out.mean += objective / kDraws;
    if (time <= bound) out.saving_inside += (1 - objective) / kDraws;
  }
  std::sort(out.values.begin(), out.values.end());
  return out;
}

struct Case {
  Objective objective;
  double time_power;
  double host;
};

class ClosedForm : public testing::TestWithParam<Case> {};

TEST_P(ClosedForm, AgreesWithDrawing) {
  const Case& c = GetParam();
  Goal asked = goal(c.objective);
  asked.host_watts = Watts(c.host);
  const ObjectiveRatio ratio(asked, 200_W);
  const Drawn drawn = draw(kCorrelated, 1, c.time_power, c.host / (200 + c.host), 0.05);
  EXPECT_NEAR(ratio.mean(kCorrelated), drawn.mean, 1e-3);
  EXPECT_NEAR(ratio.saving_inside(kCorrelated, 0.05), drawn.saving_inside, 1e-3);
  const Expected interval = ratio.interval(kCorrelated);
  EXPECT_NEAR(interval.low, drawn.values[drawn.values.size() / 20], 2e-3);
  EXPECT_NEAR(interval.median, drawn.values[drawn.values.size() / 2], 2e-3);
  EXPECT_NEAR(interval.high, drawn.values[drawn.values.size() * 19 / 20], 2e-3);
}

INSTANTIATE_TEST_SUITE_P(Objectives, ClosedForm,
                         testing::Values(Case{Objective::energy, 0, 0}, Case{Objective::energy, 0, 100},
                                         Case{Objective::edp, 1, 0}, Case{Objective::edp, 1, 100},
                                         Case{Objective::ed2p, 2, 0}, Case{Objective::cost, 0, 100}));

TEST(Belief, CorrelationOfTimeAndEnergyIsWhatTheyShare) {
  auto believed = believe({{.limit = 150, .time_own = 0.3, .energy_own = 0.4}}, 2);
  believed.time_factor << 0.4, 0.0;
  believed.energy_factor << -0.3, 0.0;
  const Belief b = belief_at(believed, 0);
  EXPECT_DOUBLE_EQ(b.time_variance, 0.25);
  EXPECT_DOUBLE_EQ(b.energy_variance, 0.25);
  EXPECT_DOUBLE_EQ(b.covariance, -0.12);
}

TEST(Belief, ASettingKnownExactlyIsInsideOrOutside) {
  EXPECT_EQ(probability_inside({.time = 0.04}, 0.05), 1);
  EXPECT_EQ(probability_inside({.time = 0.06}, 0.05), 0);
}

}  // namespace
}  // namespace rubato::plan
