#include "predict/shared_curve/shared_curve.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "predict/shared_curve/fitted_curve.h"
#include "predict/shared_curve/local_regression.h"
#include "predict/shared_curve/made_curves.h"

namespace rubato::predict {
namespace {

constexpr std::array kClock = {Knob::sm_clock};

double mean_error(const Model& model, const Curve& curve, const Known& known) {
  const auto said = model.predict(known, made::points(curve));
  EXPECT_TRUE(said) << said.error().what;
  double sum = 0;
  for (std::size_t i = 0; i < curve.rows.size(); ++i)
    sum += std::abs(std::exp(said->log_time[static_cast<Eigen::Index>(i)]) /
                        (curve.rows[i].time / curve.known.at_default.time) -
                    1);
  return sum / static_cast<double>(curve.rows.size());
}

TEST(SharedCurve, LearnsWhatThePowerAtTheDefaultTells) {
  const auto model = shared_curve_learner().learn(made::population(), kClock);
  ASSERT_TRUE(model) << model.error().what;
  for (const double share : {0.2, 0.5, 0.8}) {
    const Curve unseen = made::curve("new", "new", share, 200 + 100 * share);
    EXPECT_LT(mean_error(**model, unseen, unseen.known), 0.03) << share;
  }
}

TEST(SharedCurve, FollowsTheWorkloadsThatAreAlikeWhereNoLineFits) {
  // Work that waits for memory up to a threshold of a counter, and for the SMs above it: a step.
  std::vector<Curve> curves;
  for (int i = 0; i < 24; ++i) {
    Curve c = made::curve(cat("group", i % 6), cat("workload", i), i < 12 ? 0.1 : 0.9, 250);
    c.known.features["active"] = i;
    curves.push_back(std::move(c));
  }
  const auto model = shared_curve_learner().learn(curves, kClock);
  ASSERT_TRUE(model) << model.error().what;
  for (const int i : {2, 9, 14, 21}) {
    Curve unseen = made::curve("new", "new", i < 12 ? 0.1 : 0.9, 250);
    unseen.known.features["active"] = i + 0.5;
    EXPECT_LT(mean_error(**model, unseen, unseen.known), 0.02) << i;
  }
}

TEST(LocalRegression, AFewNeighboursOfAnotherKindDoNotBendTheCurve) {
  std::vector<shared_curve::CurveRows> curves(10);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    curves[i].hinges = Eigen::MatrixXd::Ones(2, 1);
    curves[i].log_time = Eigen::VectorXd::Constant(2, i < 3 ? 1.0 : 0.1);
    curves[i].log_energy = curves[i].log_time;
    curves[i].covariates = Eigen::VectorXd::Constant(1, 0.001 * static_cast<double>(i));
    curves[i].group = static_cast<int>(i);
  }
  const shared_curve::LocalRegression local(curves, shared_curve::Quantity::time);
  const Eigen::VectorXd b = local.coefficients(curves[5].covariates);
  ASSERT_EQ(b.size(), 1);
  EXPECT_NEAR(b[0], 0.1, 0.02);
}

TEST(LocalRegression, RefusesAStateWithoutWorkloadsOrOfAnotherBasis) {
  const auto none =
      shared_curve::LocalRegression::read({{"neighbours", 2}, {"workloads", nlohmann::json::array()}}, 1, 1);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::corrupt);
  const nlohmann::json workload = {
      {"hinges", {{1.0, 2.0}}}, {"value", {0.1}}, {"weight", 1.0}, {"covariates", {0.0}}};
  const nlohmann::json state = {{"neighbours", 2}, {"workloads", {workload}}};
  EXPECT_TRUE(shared_curve::LocalRegression::read(state, 2, 1));
  EXPECT_FALSE(shared_curve::LocalRegression::read(state, 3, 1));
  EXPECT_FALSE(shared_curve::LocalRegression::read(state, 2, 2));
}

TEST(SharedCurve, AProbeTellsWhatTheDefaultCannot) {
  const auto model = shared_curve_learner().learn(made::population(true), kClock);
  ASSERT_TRUE(model) << model.error().what;
  const Curve unseen = made::curve("new", "new", 0.95, 260);
  Known known = unseen.known;
  const double before = mean_error(**model, unseen, known);
  known.probes.push_back(unseen.rows.back());
  const double after = mean_error(**model, unseen, known);
  EXPECT_GT(before, 0.05);
  EXPECT_LT(after, before / 4);
}

TEST(SharedCurve, AtAProbeAndAtTheDefaultSaysWhatWasMeasured) {
  const auto model = shared_curve_learner().learn(made::population(true, 0.02), kClock);
  ASSERT_TRUE(model);
  const Curve unseen = made::curve("new", "new", 0.5, 260);
  Known known = unseen.known;
  known.probes.push_back(unseen.rows[3]);
  const auto said = (*model)->predict(known, made::points(unseen));
  ASSERT_TRUE(said);
  EXPECT_DOUBLE_EQ(said->log_time[0], 0);
  EXPECT_DOUBLE_EQ(said->log_time[3], std::log(unseen.rows[3].time / unseen.rows[0].time));
  EXPECT_DOUBLE_EQ(said->time_deviation(3), 0);
  EXPECT_GT(said->time_deviation(2), 0);
}

TEST(SharedCurve, NineOfTenUnseenRowsLieInsideTheInterval) {
  const auto model = shared_curve_learner().learn(made::population(true, 0.02), kClock);
  ASSERT_TRUE(model);
  int inside = 0;
  int all = 0;
  for (int i = 0; i < 60; ++i) {
    const Curve unseen = made::curve("new", "new", 0.05 + 0.015 * i, 250 + (i % 20));
    const auto said = (*model)->predict(unseen.known, made::points(unseen));
    ASSERT_TRUE(said);
    for (std::size_t k = 1; k < unseen.rows.size(); ++k) {
      const double error =
          said->log_time[static_cast<Eigen::Index>(k)] - std::log(unseen.rows[k].time / unseen.rows[0].time);
      inside += std::abs(error) < 1.645 * std::hypot(said->time_deviation(k), said->measurement_noise.time);
      ++all;
    }
  }
  EXPECT_GT(inside, 0.82 * all);
}

TEST(SharedCurve, ReadsBackAsTheSameModel) {
  const auto model = shared_curve_learner().learn(made::population(), kClock);
  ASSERT_TRUE(model);
  const auto again = shared_curve_learner().read((*model)->state());
  ASSERT_TRUE(again) << again.error().what;
  const Curve unseen = made::curve("new", "new", 0.4, 240);
  const auto a = (*model)->predict(unseen.known, made::points(unseen));
  const auto b = (*again)->predict(unseen.known, made::points(unseen));
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->log_time, b->log_time);
  EXPECT_EQ(a->energy_factor, b->energy_factor);
}

TEST(SharedCurve, RefusesAStateWhosePartsDoNotFit) {
  const auto model = shared_curve_learner().learn(made::population(), kClock);
  ASSERT_TRUE(model);
  nlohmann::json state = (*model)->state();
  state["time"].erase(state["time"].begin());
  const auto again = shared_curve_learner().read(state);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::corrupt);
}

TEST(SharedCurve, RefusesAShareOfPowerThatIsNone) {
  const auto model = shared_curve_learner().learn(made::population(), kClock);
  ASSERT_TRUE(model);
  nlohmann::json state = (*model)->state();
  state["power_share"] = 1.5;
  EXPECT_FALSE(shared_curve_learner().read(state));
  state["power_share"] = 0.5;
  state.erase("power");
  EXPECT_FALSE(shared_curve_learner().read(state));
}

TEST(FittedCurve, TheShareOfTwoAnswersIsTheOneThatErrsLeast) {
  std::vector<shared_curve::CurveRows> rows(2);
  for (auto& r : rows) r.weight = 1;
  const std::vector<Eigen::VectorXd> first = {Eigen::Vector2d(0.1, -0.1), Eigen::Vector2d(0.1, 0.1)};
  const std::vector<Eigen::VectorXd> second = {Eigen::Vector2d(-0.1, 0.1), Eigen::Vector2d(-0.1, -0.1)};
  const auto half = shared_curve::best_mixed(rows, first, second);
  EXPECT_EQ(half.share, 0.5);
  EXPECT_NEAR(half.residuals[0].norm() + half.residuals[1].norm(), 0, 1e-12);
  const std::vector<Eigen::VectorXd> worse = {2 * first[0], 2 * first[1]};
  EXPECT_EQ(shared_curve::best_mixed(rows, first, worse).share, 0);
  EXPECT_EQ(shared_curve::best_mixed(rows, worse, first).share, 1);
}

TEST(SharedCurve, LearnsPowerThatNoLineInEnergyFollows) {
  // Energy is the product of a time and a power that depend on two counters, each on one of them.
  std::vector<Curve> curves;
  for (int i = 0; i < 36; ++i) {
    Curve c = made::curve(cat("group", i % 6), cat("workload", i), i % 6 / 6.0, 250);
    const int draws = i / 6;
    c.known.features = {{"compute", i % 6}, {"draws", draws}};
    for (Observed& row : c.rows) {
      const double down = 1 - row.at.sm_clock->value() / c.known.highest.sm_clock->value();
      row.energy = row.time * c.known.at_default.power() * std::exp(-down * draws / 5.0);
    }
    curves.push_back(std::move(c));
  }
  const auto model = shared_curve_learner().learn(curves, kClock);
  ASSERT_TRUE(model) << model.error().what;
  const Curve& asked = curves[20];
  const auto said = (*model)->predict(asked.known, made::points(asked));
  ASSERT_TRUE(said);
  for (std::size_t i = 0; i < asked.rows.size(); ++i) {
    const double measured = std::log(asked.rows[i].energy / asked.known.at_default.energy);
    EXPECT_NEAR(said->log_energy[static_cast<Eigen::Index>(i)], measured, 0.05) << i;
  }
}

TEST(SharedCurve, NeedsTwoWorkloads) {
  const std::vector<Curve> one = {made::curve("a", "a", 0.5, 200)};
  const auto model = shared_curve_learner().learn(one, kClock);
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().what.find("there is 1"), std::string::npos);
}

TEST(SharedCurve, TakesWorkloadsMeasuredAtDifferentSettings) {
  std::vector<Curve> curves = made::population();
  curves[3] = made::curve("group0", "other", 0.5, 250, {1.0, 0.85, 0.55});
  const auto model = shared_curve_learner().learn(curves, kClock);
  ASSERT_TRUE(model);
  const Curve unseen = made::curve("new", "new", 0.5, 250, {1.0, 0.95, 0.65});
  EXPECT_LT(mean_error(**model, unseen, unseen.known), 0.03);
}

}  // namespace
}  // namespace rubato::predict
