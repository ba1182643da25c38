#include "predict/draws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "predict/known_drawing.h"

namespace rubato::predict {
namespace {

std::vector<KnobPoint> limits() {
  std::vector<KnobPoint> out;
  for (double watts = 100; watts <= 300; watts += 50) out.push_back({.power_limit = Watts(watts)});
  return out;
}

Draws draw(double watts, std::uint64_t seed = 1, const std::map<std::string, double>& features = {}) {
  Random random(seed);
  Known known = drawing(watts);
  known.features = features;
  auto draws = draw_physical(known, limits(), 128, random);
  EXPECT_TRUE(draws);
  return *draws;
}

TEST(Draws, EveryCurveIsZeroAtTheDefault) {
  const Draws draws = draw(250);
  ASSERT_EQ(draws.log_time.rows(), 5);
  ASSERT_EQ(draws.log_time.cols(), 128);
  EXPECT_LT(draws.log_time.row(4).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT(draws.log_power.row(4).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Draws, ALowerLimitIsNeverFasterAndNeverDrawsMore) {
  const Draws draws = draw(250);
  for (Eigen::Index i = 0; i + 1 < 5; ++i) {
    EXPECT_GT((draws.log_time.row(i) - draws.log_time.row(i + 1)).minCoeff(), -0.01);
    EXPECT_LT((draws.log_power.row(i) - draws.log_power.row(i + 1)).maxCoeff(), 0.02);
  }
}

TEST(Draws, LimitsFarAboveWhatTheJobDrawsDoNothing) {
  const Draws draws = draw(100);
  EXPECT_LT(draws.log_time.row(3).cwiseAbs().maxCoeff(), 0.01);  // 250 W
}

TEST(Draws, LimitsBelowWhatTheJobDrawsHoldItBackMoreTheMoreItDraws) {
  EXPECT_GT(draw(250).log_time.row(0).mean(), draw(150).log_time.row(0).mean() + 0.02);
}

TEST(Draws, ADefaultAtItsLimitTellsOnlyThatTheJobWouldDrawAtLeastThat) {
  const Draws draws = draw(299);
  EXPECT_TRUE(draws.log_time.allFinite());
  EXPECT_TRUE(draws.log_power.allFinite());
  EXPECT_LT(draws.log_power.row(4).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT(draws.log_power.row(2).mean(), std::log(220.0 / 299));  // 200 W, kept within a tenth
}

TEST(Draws, WhileNoKernelRunsNoClockMatters) {
  const std::vector<KnobPoint> clocks = {{.sm_clock = 700_MHz}, {.sm_clock = 1400_MHz}};
  for (const double busy : {0.9, 0.5, 0.2}) {
    Known known = drawing(250);
    known.at_default.at = known.highest = {.sm_clock = 1400_MHz};
    known.features = {{"sm_utilisation", busy}};
    Random random(1);
    const auto draws = draw_physical(known, clocks, 128, random);
    ASSERT_TRUE(draws);
    EXPECT_LE(draws->log_time.row(0).maxCoeff(), std::log(1 + busy))
        << busy;  // half the clock: kernels twice
    EXPECT_GT(draws->log_time.row(0).maxCoeff(), 0) << busy;
  }
}

TEST(Draws, AGpuThatWaitsLosesLessUnderALimit) {
  EXPECT_LT(draw(250, 1, {{"sm_utilisation", 0.5}}).log_time.row(0).mean(),
            0.8 * draw(250).log_time.row(0).mean());
}

TEST(Draws, AGpuThatIsNeverIdleTellsNothing) {
  EXPECT_TRUE(draw(250, 1, {{"sm_utilisation", 1}}).log_time.isApprox(draw(250).log_time, 1e-9));
  EXPECT_EQ(draw(250, 1, {{"sm_active", 0.3}}).log_time, draw(250).log_time);  // a share of SMs, not of time
}

TEST(Draws, AUtilisationThatCannotBeIsNoHarm) {
  EXPECT_EQ(draw(250, 1, {{"sm_utilisation", 0}}).log_time, draw(250).log_time);
  EXPECT_EQ(draw(250, 1, {{"sm_utilisation", std::nan("")}}).log_time, draw(250).log_time);
  EXPECT_TRUE(draw(250, 1, {{"sm_utilisation", 1e-9}}).log_time.allFinite());
  EXPECT_TRUE(draw(250, 1, {{"sm_utilisation", 3}}).log_time.isApprox(draw(250).log_time, 1e-9));
}

TEST(Draws, CurvesDifferAndTheSameSeedGivesTheSame) {
  const Draws one = draw(250, 1);
  EXPECT_EQ(one.log_time, draw(250, 1).log_time);
  EXPECT_NE(one.log_time, draw(250, 2).log_time);
  EXPECT_GT(one.log_time.row(0).maxCoeff() - one.log_time.row(0).minCoeff(), 0.1);
}

TEST(Draws, OfAModelTheyScatterAsItSays) {
  Prediction believed;
  believed.log_time = Eigen::Vector2d(std::log(1.1), 0);
  believed.log_energy = Eigen::Vector2d(std::log(0.8), 0);
  believed.time_factor = Eigen::Vector2d(0.05, 0);
  believed.energy_factor = Eigen::Vector2d(0, 0);
  believed.time_own = believed.energy_own = Eigen::Vector2d(0, 0);
  believed.at = {{.power_limit = 200_W}, {.power_limit = 300_W}};
  Random random(1);
  const Draws draws = draw_from(believed, 4000, random);
  EXPECT_NEAR(draws.log_time.row(0).mean(), std::log(1.1), 0.005);
  EXPECT_NEAR(std::sqrt((draws.log_time.row(0).array() - draws.log_time.row(0).mean()).square().mean()), 0.05,
              0.005);
  EXPECT_LT((draws.log_time.row(0) + draws.log_power.row(0)).array().maxCoeff(), std::log(0.8) + 1e-9);
  EXPECT_EQ(draws.log_time.row(1).cwiseAbs().maxCoeff(), 0);
}

TEST(Draws, OfAModelTheyAreAsSmoothAsWhatSettingsShare) {
  // Whoever believes the curves lets each be wrong by itself; drawn here as well it would count twice.
  Prediction believed;
  believed.at = {{.power_limit = 199_W}, {.power_limit = 200_W}, {.power_limit = 300_W}};
  believed.log_time = believed.log_energy = Eigen::Vector3d(0.1, 0.1, 0);
  believed.time_factor = Eigen::Vector3d(0.05, 0.05, 0);
  believed.energy_factor = Eigen::Vector3d(-0.03, -0.03, 0);
  believed.time_own = believed.energy_own = Eigen::Vector3d(0.02, 0.02, 0);
  Random random(1);
  const Draws draws = draw_from(believed, 100, random);
  EXPECT_EQ(draws.log_time.row(0), draws.log_time.row(1));
  EXPECT_EQ(draws.log_power.row(0), draws.log_power.row(1));
}

}  // namespace
}  // namespace rubato::predict
