#include "predict/trees/gpoeo.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "made_curves.h"
#include "predict/trees/xgboost_library.h"

namespace rubato::predict::trees {
namespace {

class Gpoeo : public testing::Test {
 protected:
  void SetUp() override {
    if (!xgboost_library()) GTEST_SKIP() << xgboost_library().error().what;
  }
};

TEST_F(Gpoeo, PredictsFromClockAndCounters) {
  const auto model = gpoeo_learner().learn(clock_curves(40, 0.005, 1), kSmClock);
  ASSERT_TRUE(model) << model.error().what;
  const Curve unseen = clock_curves(5, 0.005, 2).back();
  const auto p = (*model)->predict(unseen.known, settings_of(unseen));
  ASSERT_TRUE(p) << p.error().what;
  EXPECT_NEAR(p->log_time[0], std::log(unseen.rows[0].time / unseen.rows.back().time), 0.06);
}

TEST_F(Gpoeo, ClocksOfThreeBandsHaveModelsOfTheirOwn) {
  // 600, 1000 and 1400 of 1400 MHz: below 0.57, below 0.79, above.
  const auto model = gpoeo_learner().learn(clock_curves(10, 0.005, 1), kSmClock);
  const auto arrangement = (*model)->state().at("arrangement");
  EXPECT_EQ(arrangement.at("bands"), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(arrangement.at("models").size(), 3U);
}

TEST_F(Gpoeo, ABandWithoutRowsAsksItsNeighbour) {
  Random random(1);
  std::vector<Curve> curves;
  for (int i = 0; i < 6; ++i)
    curves.push_back(clock_curve("w" + std::to_string(i), "g" + std::to_string(i), 0.1 * i, 0.005, random,
                                 {1200, 1300, 1400}));
  const auto model = gpoeo_learner().learn(curves, kSmClock);
  ASSERT_TRUE(model) << model.error().what;
  EXPECT_EQ((*model)->state().at("arrangement").at("bands"), (std::vector<int>{0, 0, 0}));
}

TEST_F(Gpoeo, LearnsNothingFromProbes) {
  const auto model = gpoeo_learner().learn(clock_curves(20, 0.005, 1), kSmClock);
  const Curve unseen = clock_curves(1, 0.005, 2).front();
  Known probed = unseen.known;
  probed.probes = {unseen.rows[0]};
  EXPECT_EQ((*model)->predict(probed, settings_of(unseen))->log_time,
            (*model)->predict(unseen.known, settings_of(unseen))->log_time);
}

TEST_F(Gpoeo, NamesWhatATableLacks) {
  auto curves = clock_curves(6, 0.005, 1);
  for (Curve& curve : curves) curve.known.features.clear();
  const auto no_counters = gpoeo_learner().learn(curves, kSmClock);
  ASSERT_FALSE(no_counters);
  EXPECT_NE(no_counters.error().what.find("feature_"), std::string::npos);
  for (Curve& curve : curves) {
    curve.known.highest.power_limit = 250_W;
    for (Observed& row : curve.rows) row.at.power_limit = 250_W;
    curve.known.at_default = curve.rows.back();
  }
  const std::vector<Knob> limit = {Knob::power_limit};
  const auto no_clock = gpoeo_learner().learn(curves, limit);
  ASSERT_FALSE(no_clock);
  EXPECT_NE(no_clock.error().what.find("SM"), std::string::npos);
}

TEST_F(Gpoeo, AModelReadBackPredictsTheSame) {
  const auto model = gpoeo_learner().learn(clock_curves(10, 0.005, 1), kSmClock);
  const auto again = gpoeo_learner().read(nlohmann::json::parse((*model)->state().dump()));
  ASSERT_TRUE(again) << again.error().what;
  const Curve unseen = clock_curves(1, 0.005, 2).front();
  EXPECT_EQ((*again)->predict(unseen.known, settings_of(unseen))->log_energy,
            (*model)->predict(unseen.known, settings_of(unseen))->log_energy);
}

}  // namespace
}  // namespace rubato::predict::trees
