#include "predict/trees/trees.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "made_curves.h"
#include "predict/trees/xgboost_library.h"

namespace rubato::predict::trees {
namespace {

class Trees : public testing::Test {
 protected:
  void SetUp() override {
    if (!xgboost_library()) GTEST_SKIP() << xgboost_library().error().what;
  }
  static std::unique_ptr<Model> learned(std::size_t count = 40) {
    auto model = trees_learner().learn(clock_curves(count, 0.005, 1), kSmClock);
    EXPECT_TRUE(model) << model.error().what;
    return std::move(*model);
  }
};

TEST_F(Trees, PredictWorkloadsTheyNeverSawFromTheirCounters) {
  const auto model = learned();
  for (const Curve& unseen : clock_curves(10, 0.005, 2)) {
    const auto p = model->predict(unseen.known, settings_of(unseen));
    ASSERT_TRUE(p) << p.error().what;
    for (std::size_t i = 0; i < p->size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      EXPECT_NEAR(p->log_time[row], std::log(unseen.rows[i].time / unseen.known.at_default.time), 0.06);
      EXPECT_NEAR(p->log_energy[row], std::log(unseen.rows[i].energy / unseen.known.at_default.energy), 0.08);
    }
  }
}

TEST_F(Trees, TheDefaultIsCertain) {
  const Curve unseen = clock_curves(1, 0.005, 3).front();
  const auto p = learned()->predict(unseen.known, std::vector<KnobPoint>{{}, unseen.known.at_default.at});
  for (const std::size_t i : {0U, 1U}) {
    EXPECT_EQ(p->log_time[static_cast<Eigen::Index>(i)], 0);
    EXPECT_EQ(p->energy_deviation(i), 0);
  }
}

TEST_F(Trees, AProbeTellsWhatNoCounterTold) {
  auto curves = clock_curves(40, 0.005, 1);
  for (Curve& curve : curves) curve.known.features.clear();
  const auto model = trees_learner().learn(curves, kSmClock);
  ASSERT_TRUE(model) << model.error().what;
  Random random(4);
  Curve odd = clock_curve("odd", "odd", 0.95, 0, random);
  odd.known.features.clear();
  const auto before = (*model)->predict(odd.known, settings_of(odd));
  Known probed = odd.known;
  probed.probes = {odd.rows[1]};
  const auto after = (*model)->predict(probed, settings_of(odd));
  const auto error = [&](const Prediction& p, int row) {
    return std::abs(p.log_time[row] -
                    std::log(odd.rows[static_cast<std::size_t>(row)].time / odd.rows.back().time));
  };
  for (const int row : {0, 1, 2}) EXPECT_LT(error(*after, row), error(*before, row) / 2) << row;
  EXPECT_LT(after->time_deviation(0), before->time_deviation(0) * 0.6);
}

TEST_F(Trees, TheSameCurvesGiveTheSameModel) {
  EXPECT_EQ(learned()->state(), learned()->state());
}

TEST_F(Trees, AModelReadBackPredictsTheSame) {
  const auto model = learned();
  const auto again = trees_learner().read(nlohmann::json::parse(model->state().dump()));
  ASSERT_TRUE(again) << again.error().what;
  const Curve unseen = clock_curves(1, 0.005, 5).front();
  const auto p = model->predict(unseen.known, settings_of(unseen));
  const auto q = (*again)->predict(unseen.known, settings_of(unseen));
  EXPECT_EQ(p->log_time, q->log_time);
  EXPECT_EQ(p->energy_factor, q->energy_factor);
  EXPECT_EQ(p->time_own, q->time_own);
}

TEST_F(Trees, SayWhatTheyCannotTell) {
  const auto model = learned();
  Curve unseen = clock_curves(1, 0.005, 6).front();
  const std::vector<KnobPoint> limit = {{.power_limit = 100_W, .sm_clock = {}, .memory_clock = {}}};
  const auto no_knob = model->predict(unseen.known, limit);
  ASSERT_FALSE(no_knob);
  EXPECT_NE(no_knob.error().what.find("power-limit"), std::string::npos) << no_knob.error().what;
  unseen.known.features.clear();
  const auto no_counter = model->predict(unseen.known, settings_of(unseen));
  ASSERT_FALSE(no_counter);
  EXPECT_NE(no_counter.error().what.find("fp32_active"), std::string::npos) << no_counter.error().what;
}

TEST_F(Trees, OneWorkloadIsTooFew) {
  const auto model = trees_learner().learn(clock_curves(1, 0, 1), kSmClock);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::invalid_argument);
}

TEST_F(Trees, AStateOfAnotherSchemaIsRefused) {
  auto state = learned(4)->state();
  state["schema"]["version"] = 99;
  const auto read = trees_learner().read(state);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::not_supported);
  state.erase("schema");
  EXPECT_FALSE(trees_learner().read(state));
}

}  // namespace
}  // namespace rubato::predict::trees
