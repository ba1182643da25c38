#include "predict/physical/physical.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "predict/physical/prior.h"

namespace rubato::predict::physical {
namespace {

constexpr double kLimit = 250;
constexpr std::array kLimits = {100.0, 130.0, 160.0, 190.0, 220.0, 250.0};
const std::array kKnobs = {Knob::power_limit};

KnobPoint limit(double watts) {
  return {.power_limit = Watts(watts), .sm_clock = {}, .memory_clock = {}};
}

/// A workload that draws `watts` at the default; noise is a fixed ripple of half a percent.
Curve curve(int group, double watts, double compute) {
  Parameters w = starting_prior().mean;
  w[log_power] = 0.02;
  w[compute_share] = compute;
  std::vector<Situation> at;
  for (const double l : kLimits) at.push_back({.sm = 1, .memory = 1, .bandwidth = 1, .cap = l / watts});
  const Eigen::VectorXd y = responses(w, at);
  Curve out;
  out.group = "g" + std::to_string(group);
  out.workload = out.group + "/" + std::to_string(watts);
  for (std::size_t i = 0; i < kLimits.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const double ripple =
        0.005 * std::sin(static_cast<double>(7 * group) + 3.0 * static_cast<double>(i) + watts);
    const Seconds time(10 * std::exp(y[row] + ripple));
    Observed observed;
    observed.at = limit(kLimits[i]);
    observed.time = time;
    observed.energy = Watts(watts * std::exp(y[row + 6] - ripple)) * time;
    out.rows.push_back(observed);
  }
  out.known.gpu = "test GPU";
  out.known.highest = limit(kLimit);
  out.known.at_default = out.rows.back();
  return out;
}

std::vector<Curve> population() {
  std::vector<Curve> out;
  for (int g = 0; g < 5; ++g)
    for (const double watts : {150.0, 190.0, 230.0}) out.push_back(curve(g, watts + g, 0.5 + 0.4 * g));
  return out;
}

std::unique_ptr<Model> learnt() {
  auto model = physical_learner().learn(population(), kKnobs);
  EXPECT_TRUE(model) << model.error().what;
  return std::move(*model);
}

std::vector<KnobPoint> all_limits() {
  std::vector<KnobPoint> out;
  for (const double l : kLimits) out.push_back(limit(l));
  return out;
}

double worst_time_error(const Prediction& p, const Curve& truth) {
  double worst = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    worst = std::max(worst, std::abs(p.log_time[static_cast<Eigen::Index>(i)] -
                                     std::log(truth.rows[i].time / truth.known.at_default.time)));
  return worst;
}

TEST(Physical, PredictsAWorkloadOfAGroupNeverSeenFromItsDefault) {
  const Curve held = curve(7, 205, 1.3);
  const auto p = learnt()->predict(held.known, all_limits());
  ASSERT_TRUE(p) << p.error().what;
  EXPECT_LT(worst_time_error(*p, held), 0.12);
  EXPECT_GT(p->log_time[0], 0.3);  // 100 W of 205: it does bite
}

TEST(Physical, AMeasuredSettingSharpensAllOthers) {
  Curve held = curve(7, 205, 2.8);
  const auto model = learnt();
  const auto before = model->predict(held.known, all_limits());
  held.known.probes = {held.rows[0]};
  const auto after = model->predict(held.known, all_limits());
  ASSERT_TRUE(before && after);
  EXPECT_LT(after->time_deviation(1), 0.8 * before->time_deviation(1));
  EXPECT_LT(worst_time_error(*after, held), 0.05);
}

TEST(Physical, TheDefaultIsExactlyItself) {
  const Curve held = curve(7, 205, 1.3);
  const auto p = learnt()->predict(held.known, all_limits());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->log_time[5], 0);
  EXPECT_EQ(p->energy_deviation(5), 0);
  EXPECT_GT(p->measurement_noise.time, 0);
}

TEST(Physical, SettingsBetweenAndKnobsBesidesThoseSeenAreAnsweredToo) {
  Curve held = curve(7, 205, 1.3);
  held.known.highest.sm_clock = Megahertz(1500);
  const KnobPoint both{.power_limit = Watts(205), .sm_clock = Megahertz(900), .memory_clock = {}};
  const std::vector at = {limit(205), both};
  const auto p = learnt()->predict(held.known, at);
  ASSERT_TRUE(p) << p.error().what;
  EXPECT_GT(p->log_time[1], p->log_time[0]);
}

TEST(Physical, ThousandsOfSettingsAreAnsweredLikeFew) {
  Curve held = curve(7, 205, 1.3);
  held.known.highest.sm_clock = Megahertz(1500);
  held.known.highest.memory_clock = Megahertz(900);
  std::vector<KnobPoint> many;
  for (int l = 0; l < 10; ++l)
    for (int c = 0; c < 50; ++c)
      for (int m = 0; m < 10; ++m)
        many.push_back({.power_limit = Watts(100 + 15 * l),
                        .sm_clock = Megahertz(520 + 20 * c),
                        .memory_clock = Megahertz(450 + 50 * m)});
  const std::vector few = {many[0], many[1234], many[2718], many[4999]};
  const auto model = learnt();
  const auto all = model->predict(held.known, many);
  const auto exact = model->predict(held.known, few);
  ASSERT_TRUE(all && exact);
  ASSERT_EQ(all->size(), many.size());
  const std::array<Eigen::Index, 4> where = {0, 1234, 2718, 4999};
  for (Eigen::Index i = 0; i < 4; ++i) {
    EXPECT_NEAR(all->log_time[where[static_cast<std::size_t>(i)]], exact->log_time[i], 0.006);
    EXPECT_NEAR(all->log_energy[where[static_cast<std::size_t>(i)]], exact->log_energy[i], 0.006);
  }
}

TEST(Physical, WithoutAnyCurveThePriorAnswersAndIsUnsure) {
  const auto model = physical_learner().learn({}, kKnobs);
  ASSERT_TRUE(model);
  const Curve held = curve(7, 205, 1.3);
  const auto p = (*model)->predict(held.known, all_limits());
  ASSERT_TRUE(p);
  EXPECT_GT(p->log_time[0], 0);
  EXPECT_GT(p->time_deviation(0), learnt()->predict(held.known, all_limits())->time_deviation(0));
}

TEST(Physical, OneWorkloadIsEnoughToLearnFrom) {
  const std::vector one = {curve(0, 200, 1)};
  const auto model = physical_learner().learn(one, kKnobs);
  ASSERT_TRUE(model);
  const auto p = (*model)->predict(curve(7, 205, 1.3).known, all_limits());
  ASSERT_TRUE(p);
  EXPECT_TRUE(p->log_time.allFinite());
  EXPECT_TRUE(p->energy_factor.allFinite());
}

TEST(Physical, ACurveWithoutItsDefaultIsRefusedByName) {
  std::vector<Curve> curves = population();
  curves[3].rows.pop_back();
  const auto model = physical_learner().learn(curves, kKnobs);
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().what, testing::HasSubstr(curves[3].workload));
}

TEST(Physical, AClockWhoseHighestNobodyKnowsIsRefusedByName) {
  const KnobPoint clock{.power_limit = {}, .sm_clock = Megahertz(900), .memory_clock = {}};
  const auto p = learnt()->predict(curve(7, 205, 1.3).known, std::vector{clock});
  ASSERT_FALSE(p);
  EXPECT_THAT(p.error().what, testing::HasSubstr("SM clock"));
}

TEST(Physical, WhatWasWrittenAnswersTheSameAgain) {
  const auto model = learnt();
  const auto text = model->state().dump();
  const auto again = physical_learner().read(nlohmann::json::parse(text));
  ASSERT_TRUE(again) << again.error().what;
  const Curve held = curve(7, 205, 1.3);
  const auto first = model->predict(held.known, all_limits());
  const auto second = (*again)->predict(held.known, all_limits());
  EXPECT_TRUE(first->log_energy.isApprox(second->log_energy, 1e-9));
  EXPECT_TRUE(first->time_factor.cwiseAbs().isApprox(second->time_factor.cwiseAbs(), 1e-6));
}

TEST(Physical, EveryMemberOfAModelFileIsMissedByName) {
  const nlohmann::json whole = learnt()->state();
  for (const auto& [name, value] : whole.items()) {
    nlohmann::json damaged = whole;
    damaged.erase(name);
    const auto read = physical_learner().read(damaged);
    ASSERT_FALSE(read) << name;
    EXPECT_THAT(read.error().what, testing::HasSubstr(name));
    damaged[name] = "nonsense";
    EXPECT_FALSE(physical_learner().read(damaged)) << name;
  }
  EXPECT_FALSE(physical_learner().read(nlohmann::json::array()));
}

}  // namespace
}  // namespace rubato::predict::physical
