#include "predict/trees/residuals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/random.h"

namespace rubato::predict::trees {
namespace {

/// Errors that grow with distance: 10 % at the farthest setting, one number a workload, and 1 % of their own.
std::vector<Residuals> growing(std::size_t workloads, std::uint64_t seed) {
  Random random(seed);
  std::vector<Residuals> out;
  for (std::size_t w = 0; w < workloads; ++w) {
    Residuals one{Eigen::MatrixXd(6, 1), Eigen::VectorXd::Zero(6), Eigen::VectorXd::Zero(6)};
    const double slope = random.normal();
    for (int i = 0; i < 6; ++i) {
      one.place(i, 0) = -0.2 * i;
      one.time[i] = i == 0 ? 0.0 : 0.1 * i / 5 * slope + 0.01 * random.normal();
      one.energy[i] = i == 0 ? 0.0 : 0.1 * i / 5 * slope + 0.01 * random.normal();
    }
    out.push_back(std::move(one));
  }
  return out;
}

Residuals default_alone() {
  return {Eigen::MatrixXd::Zero(1, 1), Eigen::VectorXd::Zero(1), Eigen::VectorXd::Zero(1)};
}

TEST(ResidualModel, IsSurerNearTheDefaultAndExactThere) {
  const auto model = ResidualModel::learn(growing(60, 1), 30);
  Eigen::MatrixXd place(3, 1);
  place << 0.0, -0.2, -1.0;
  const Prediction p =
      model.apply(place, Eigen::Vector3d(0.5, 0.1, 0.4), Eigen::Vector3d::Zero(), default_alone());
  EXPECT_EQ(p.log_time[0], 0);
  EXPECT_EQ(p.time_deviation(0), 0);
  EXPECT_LT(p.time_deviation(1), p.time_deviation(2) / 2);
  EXPECT_NEAR(p.time_deviation(2), 0.1, 0.04);
}

TEST(ResidualModel, AProbeTeachesTheOtherSettings) {
  const auto model = ResidualModel::learn(growing(60, 1), 30);
  Eigen::MatrixXd place(2, 1);
  place << -0.8, -1.0;
  Residuals measured{Eigen::MatrixXd(2, 1), Eigen::Vector2d(0, 0.08), Eigen::Vector2d(0, 0.08)};
  measured.place << 0.0, -0.8;
  const Eigen::Vector2d none = Eigen::Vector2d::Zero();
  const Prediction before = model.apply(place, none, none, default_alone());
  const Prediction after = model.apply(place, none, none, measured);
  EXPECT_NEAR(after.log_time[0], 0.08, 0.02);
  EXPECT_NEAR(after.log_time[1], 0.1, 0.03);
  EXPECT_LT(after.time_deviation(1), before.time_deviation(1) / 2);
  EXPECT_LT(after.energy_deviation(1), before.energy_deviation(1) / 2);
}

TEST(ResidualModel, ADefaultThatTheTreesMissMovesTheCurveWithinReason) {
  const auto model = ResidualModel::learn(growing(2, 1), 2);  // both hit at their defaults
  Eigen::MatrixXd place(2, 1);
  place << -0.2, -1.0;
  Residuals measured = default_alone();
  measured.time[0] = measured.energy[0] = 0.3;
  const Eigen::Vector2d none = Eigen::Vector2d::Zero();
  const Prediction p = model.apply(place, none, none, measured);
  const Prediction hit = model.apply(place, none, none, default_alone());
  for (const int i : {0, 1}) {
    const auto row = static_cast<std::size_t>(i);
    EXPECT_LE(std::abs(p.log_time[i]), 4 * hit.time_deviation(row) + 0.3);
    EXPECT_LE(std::abs(p.log_energy[i]), 4 * hit.energy_deviation(row) + 0.3);
  }
}

/// Errors of 2 % near the default and of 10 % far from it, no two settings alike.
std::vector<Residuals> lone(std::size_t workloads, std::uint64_t seed) {
  Random random(seed);
  std::vector<Residuals> out = growing(workloads, seed);
  for (Residuals& w : out)
    for (int i = 1; i < 6; ++i) w.time[i] = w.energy[i] = 0.02 * i * random.normal();
  return out;
}

TEST(ResidualModel, WhatASettingHasAloneIsLearnedByMeasuringIt) {
  const auto model = ResidualModel::learn(lone(60, 1), 60);
  Eigen::MatrixXd place(2, 1);
  place << -0.8, -1.0;
  Residuals measured{Eigen::MatrixXd(2, 1), Eigen::Vector2d(0, 0.2), Eigen::Vector2d(0, 0.2)};
  measured.place << 0.0, -1.0;
  const Eigen::Vector2d none = Eigen::Vector2d::Zero();
  const Prediction before = model.apply(place, none, none, default_alone());
  const Prediction after = model.apply(place, none, none, measured);
  EXPECT_GT(after.log_time[1], 0.15);
  EXPECT_LT(after.log_time[0], 0.1);
  EXPECT_LT(after.time_deviation(1), before.time_deviation(1) * 0.8);
}

TEST(ResidualModel, NinetyPercentIntervalsHoldNinetyPercentOfWorkloadsNotSeen) {
  const auto model = ResidualModel::learn(growing(60, 1), 60);
  int inside = 0;
  int all = 0;
  for (const Residuals& w : growing(300, 2)) {
    const Eigen::VectorXd none = Eigen::VectorXd::Zero(6);
    const Prediction p = model.apply(w.place, none, none, default_alone());
    for (int i = 1; i < 6; ++i, ++all) {
      const auto row = static_cast<std::size_t>(i);
      const double deviation = std::hypot(p.time_deviation(row), p.measurement_noise.time);
      inside += std::abs(w.time[i] - p.log_time[i]) < 1.645 * deviation ? 1 : 0;
    }
  }
  EXPECT_NEAR(static_cast<double>(inside) / all, 0.9, 0.05);
}

TEST(ResidualModel, FewerGroupsMakeItLessSure) {
  const auto many = ResidualModel::learn(growing(60, 1), 60);
  const auto few = ResidualModel::learn(growing(60, 1), 3);
  Eigen::MatrixXd place(1, 1);
  place << -1.0;
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(1);
  EXPECT_GT(few.apply(place, none, none, default_alone()).time_deviation(0),
            1.2 * many.apply(place, none, none, default_alone()).time_deviation(0));
}

TEST(ResidualModel, TimeAndEnergyAreWrongTogether) {
  const auto model = ResidualModel::learn(growing(60, 1), 30);
  Eigen::MatrixXd place(1, 1);
  place << -1.0;
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(1);
  const Prediction p = model.apply(place, none, none, default_alone());
  const double together = p.time_factor.row(0).dot(p.energy_factor.row(0));
  EXPECT_GT(together / (p.time_factor.row(0).norm() * p.energy_factor.row(0).norm()), 0.8);
}

TEST(ResidualModel, ReadsBackWhatItWrote) {
  const auto model = ResidualModel::learn(growing(20, 1), 10);
  const auto again = ResidualModel::read(model.state());
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->state(), model.state());
}

TEST(ResidualModel, RefusesImpossibleStates) {
  const auto state = ResidualModel::learn(growing(20, 1), 10).state();
  const auto with = [&](const char* pointer, const nlohmann::json& value) {
    auto changed = state;
    changed[nlohmann::json::json_pointer(pointer)] = value;
    return ResidualModel::read(changed);
  };
  EXPECT_FALSE(with("/reach", 0.0));
  EXPECT_FALSE(with("/correlation", 1.0));
  EXPECT_FALSE(with("/time/deviation/0", -1.0));
  EXPECT_FALSE(with("/time/noise_share", 2.0));
  EXPECT_FALSE(with("/time/distance", nlohmann::json::array()));
  EXPECT_FALSE(with("/anchors", nlohmann::json::array()));
  EXPECT_FALSE(ResidualModel::read(nlohmann::json::object()));
}

}  // namespace
}  // namespace rubato::predict::trees
