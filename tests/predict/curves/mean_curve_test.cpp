#include "predict/mean_curve.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "predict/ratio_grid.h"

namespace rubato::predict {
namespace {

constexpr Knob kLimit[] = {Knob::power_limit};
constexpr Knob kClocks[] = {Knob::sm_clock, Knob::memory_clock};

KnobPoint limit(double watts) {
  return {.power_limit = Watts(watts)};
}

/// A default at 200 W of 1 s and 200 J, and one more setting.
Curve curve_of(double watts, double time, double energy) {
  Curve curve;
  const Observed base{.at = limit(200), .time = 1_s, .energy = 200_J};
  curve.known = {.gpu = "V", .at_default = base, .highest = limit(200)};
  curve.rows = {base, {.at = limit(watts), .time = Seconds(time), .energy = Joules(200 * energy)}};
  return curve;
}

std::unique_ptr<Model> learnt(const std::vector<Curve>& curves, std::span<const Knob> knobs = kLimit) {
  return mean_curve_learner().learn(curves, knobs).value();
}

TEST(MeanCurve, IsTheMeanOfTheRatios) {
  const auto model = learnt({curve_of(100, 1.2, 0.8), curve_of(100, 1.4, 0.6)});
  const std::vector<KnobPoint> at = {limit(100), limit(200)};
  const Prediction said = model->predict(curve_of(100, 9, 9).known, at).value();
  EXPECT_NEAR(std::exp(said.log_time[0]), 1.3, 1e-12);
  EXPECT_NEAR(std::exp(said.log_energy[0]), 0.7, 1e-12);
  EXPECT_EQ(said.log_time[1], 0);
  EXPECT_EQ(said.time_deviation(1), 0);
}

TEST(MeanCurve, GoesStraightBetweenAndStaysFlatBeyond) {
  const auto model = learnt({curve_of(100, 1.2, 0.8), curve_of(100, 1.4, 0.6)});
  const std::vector<KnobPoint> at = {limit(150), limit(50), limit(400), KnobPoint{}};
  const Prediction said = model->predict(curve_of(100, 1, 1).known, at).value();
  EXPECT_NEAR(std::exp(said.log_time[0]), 1.15, 1e-12);
  EXPECT_NEAR(std::exp(said.log_time[1]), 1.3, 1e-12);
  EXPECT_NEAR(said.log_time[2], 0, 1e-12);
  EXPECT_NEAR(said.log_time[3], 0, 1e-12);  // not locked: at its highest
}

TEST(MeanCurve, ItsSpreadIsThatOfTheWorkloadsItSaw) {
  const double e = std::exp(0.1);
  const auto model = learnt({curve_of(100, e, 1 / e), curve_of(100, 1 / e, e)});
  const std::vector<KnobPoint> at = {limit(100)};
  const Prediction said = model->predict(curve_of(100, 1, 1).known, at).value();
  // Two workloads at +-0.1 around their mean: 0.1^2 x 2 / (2 - 1), and half as much for the mean itself.
  EXPECT_NEAR(said.time_deviation(0), std::sqrt(0.02 * 1.5), 1e-3);
  // What is slower here takes less: the two move against each other.
  EXPECT_LT((said.time_factor * said.energy_factor.transpose())(0, 0), 0);
}

KnobPoint clocks(double sm, double memory) {
  return {.sm_clock = Megahertz(sm), .memory_clock = Megahertz(memory)};
}

/// A default at the first setting; time and energy over the default's at the others.
Curve curve_over(const std::vector<std::pair<KnobPoint, Ratios>>& settings) {
  Curve curve;
  const Observed base{.at = settings.front().first, .time = 1_s, .energy = 100_J};
  curve.known = {.gpu = "G", .at_default = base, .highest = base.at};
  for (const auto& [at, ratios] : settings)
    curve.rows.push_back({.at = at, .time = Seconds(ratios.time), .energy = Joules(100 * ratios.energy)});
  return curve;
}

TEST(MeanCurve, BetweenTheSettingsOfTwoKnobsItSaysWhatLiesBetween) {
  // As a search asks: in the GPU's own steps, of which a table has few.
  const auto by = [](double sm, double memory) {
    return curve_over({{clocks(2000, 5000), {1, 1}},
                       {clocks(1600, 5000), {1 + sm, 1 - sm}},
                       {clocks(2000, 4000), {1 + memory, 1 - memory}},
                       {clocks(1600, 4000), {1 + sm + memory, 1 - sm - memory}}});
  };
  const auto model = learnt({by(0.1, 0.2), by(0.3, 0.2)}, kClocks);
  const std::vector<KnobPoint> asked = {clocks(1600, 4000), clocks(1800, 5000), clocks(1800, 4500),
                                        clocks(1500, 4500), clocks(2000, 5000)};
  const Prediction said = model->predict(by(0, 0).known, asked).value();
  const std::vector<double> time = {1.4, 1.1, 1.2, 1.3, 1};
  for (std::size_t i = 0; i < time.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    EXPECT_NEAR(std::exp(said.log_time[row]), time[i], 1e-12) << i;
    EXPECT_NEAR(std::exp(said.log_energy[row]), 2 - time[i], 1e-12) << i;
  }
  // Half-way to where the workloads differ, they differ by half as much.
  EXPECT_NEAR(said.time_deviation(1), std::sqrt(1.5 * 2) * 0.05 / 1.1, 1e-3);
  EXPECT_EQ(said.time_deviation(4), 0);
}

TEST(MeanCurve, ComesBackFromItsState) {
  const std::vector<Curve> curves = {curve_of(100, 1.2, 0.8), curve_of(120, 1.4, 0.6)};
  const auto model = learnt(curves);
  const auto back = mean_curve_learner().read(nlohmann::json::parse(model->state().dump()));
  ASSERT_TRUE(back) << back.error().what;
  const std::vector<KnobPoint> at = {limit(100), limit(110), limit(150)};
  const Prediction before = model->predict(curves[0].known, at).value();
  const Prediction after = (*back)->predict(curves[0].known, at).value();
  EXPECT_EQ(before.log_time, after.log_time);
  EXPECT_EQ(before.energy_factor, after.energy_factor);
}

TEST(MeanCurve, AStateThatIsNoneIsRefused) {
  const auto refused = [](const char* text) {
    return !mean_curve_learner().read(nlohmann::json::parse(text));
  };
  EXPECT_TRUE(refused("{}"));
  EXPECT_TRUE(refused("[]"));
  EXPECT_TRUE(refused(R"({"knobs":["fan"],"curves":[]})"));
  EXPECT_TRUE(
      refused(R"({"knobs":["power-limit"],"curves":[[{"at_thousandths":[500],"time":0,"energy":1}]]})"));
  EXPECT_TRUE(
      refused(R"({"knobs":["power-limit"],"curves":[[{"at_thousandths":[1,2],"time":1,"energy":1}]]})"));
  EXPECT_TRUE(refused(
      R"({"knobs":["sm-clock","sm-clock"],"curves":[[{"at_thousandths":[1,2],"time":1,"energy":1}]]})"));
}

TEST(MeanCurve, OneWorkloadIsHardlyBelieved) {
  const std::vector<KnobPoint> at = {limit(100)};
  const Prediction said = learnt({curve_of(100, 1.2, 0.8)})->predict(curve_of(100, 1, 1).known, at).value();
  EXPECT_NEAR(said.time_deviation(0), std::log(1.2), 1e-12);
}

TEST(MeanCurve, NoWorkloadsAndAnUnknownDefaultAreRefused) {
  EXPECT_FALSE(mean_curve_learner().learn({}, kLimit));
  const auto model = learnt({curve_of(100, 1.2, 0.8), curve_of(100, 1.4, 0.6)});
  const std::vector<KnobPoint> at = {limit(100)};
  const auto said = model->predict({.gpu = "X"}, at);
  ASSERT_FALSE(said);
  EXPECT_THAT(said.error().what, testing::HasSubstr("power-limit of X"));
}

}  // namespace
}  // namespace rubato::predict
