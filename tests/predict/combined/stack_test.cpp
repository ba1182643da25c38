#include "predict/combined/stack.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "predict/combined/combined.h"
#include "predict/shared_curve/made_curves.h"

namespace rubato::predict::combined {
namespace {

constexpr std::array kClock = {Knob::sm_clock};

/// Says that time is (1 / clock)^power everywhere, and is as unsure as told.
class Fixed final : public Model {
 public:
  Fixed(double power, double deviation) : power_(power), deviation_(deviation) {}
  Result<Prediction> predict(const Known&, std::span<const KnobPoint> at) const override {
    const auto n = static_cast<Eigen::Index>(at.size());
    Prediction out{.at = {at.begin(), at.end()},
                   .log_time = Eigen::VectorXd(n),
                   .log_energy = Eigen::VectorXd::Zero(n),
                   .time_factor = Eigen::MatrixXd::Zero(n, 0),
                   .energy_factor = Eigen::MatrixXd::Zero(n, 0),
                   .time_own = Eigen::VectorXd::Constant(n, deviation_),
                   .energy_own = Eigen::VectorXd::Constant(n, deviation_),
                   .measurement_noise = {}};
    for (std::size_t i = 0; i < at.size(); ++i)
      out.log_time[static_cast<Eigen::Index>(i)] = -power_ * std::log(at[i].sm_clock->value() / 1000);
    return out;
  }
  nlohmann::json state() const override { return {}; }

 private:
  double power_;
  double deviation_;
};

class FixedLearner final : public Learner {
 public:
  explicit FixedLearner(double power, std::string_view name = "fixed") : power_(power), name_(name) {}
  std::string_view name() const override { return name_; }
  Result<std::unique_ptr<Model>> learn(std::span<const Curve>, std::span<const Knob>) const override {
    return std::make_unique<Fixed>(power_, 0.05);
  }
  Result<std::unique_ptr<Model>> read(const nlohmann::json&) const override {
    return std::make_unique<Fixed>(power_, 0.05);
  }

 private:
  double power_;
  std::string_view name_;
};

Prediction answer(double power, double deviation, const Curve& curve) {
  return *Fixed(power, deviation).predict(curve.known, made::points(curve));
}

TEST(Mix, WeighsCentresAndCountsHowFarApartTheyAre) {
  const Curve curve = made::curve("g", "w", 0.5, 250, {1.0, 0.5});
  Trust trust = trust_of(Eigen::Vector2d::Ones());
  trust.time << 0.25, 0.75;
  const auto mixed = mix({answer(0, 0.1, curve), answer(1, 0.1, curve)}, trust, curve.known);
  ASSERT_TRUE(mixed);
  EXPECT_NEAR(mixed->log_time[1], 0.75 * std::log(2), 1e-12);
  // Variance of a mixture: 0.1^2 within, 0.25 * 0.75 * log(2)^2 between.
  EXPECT_NEAR(mixed->time_deviation(1), std::sqrt(0.01 + 0.1875 * std::log(2) * std::log(2)), 1e-9);
  EXPECT_EQ(mixed->time_deviation(0), 0);  // the default
}

TEST(Mix, AMemberWithoutAnAnswerLeavesItsWeightToTheOthers) {
  const Curve curve = made::curve("g", "w", 0.5, 250, {1.0, 0.5});
  const auto mixed =
      mix({std::nullopt, answer(1, 0.1, curve)}, trust_of(Eigen::Vector2d::Ones()), curve.known);
  ASSERT_TRUE(mixed);
  EXPECT_NEAR(mixed->log_time[1], std::log(2), 1e-12);
  EXPECT_FALSE(mix({std::nullopt, std::nullopt}, trust_of(Eigen::Vector2d::Ones()), curve.known));
}

TEST(Weigh, TrustsTheMemberThatIsRightAboutGroupsItHasNotSeen) {
  std::vector<Curve> curves;
  for (int g = 0; g < 4; ++g) curves.push_back(made::curve(cat("g", g), cat("w", g), 1.0, 250));
  const FixedLearner wrong(0.2);
  const FixedLearner right(1.0);  // time = 1 / clock where all is compute
  const auto trusts = weigh(curves, kClock, {&wrong, &right}, Eigen::Vector2d::Ones());
  ASSERT_TRUE(trusts);
  EXPECT_GT((*trusts)[0].time[1], 0.95);
  EXPECT_NEAR((*trusts)[0].time.sum(), 1, 1e-9);
  EXPECT_LT((*trusts)[0].time_scale, 1);  // its 5 % were too careful
}

TEST(Weigh, OneGroupLeavesTheWeightsAsTheyWere) {
  const std::vector<Curve> curves = {made::curve("g", "a", 1.0, 250), made::curve("g", "b", 0.5, 250)};
  const FixedLearner one(0.2);
  const FixedLearner two(1.0);
  const auto trusts = weigh(curves, kClock, {&one, &two}, Eigen::Vector2d(3, 1));
  ASSERT_TRUE(trusts);
  EXPECT_EQ((*trusts)[0].time[0], 0.75);
}

TEST(Weigh, ALittleBetterMovesLittleWeight) {
  std::vector<Curve> curves;
  for (int g = 0; g < 4; ++g) curves.push_back(made::curve(cat("g", g), cat("w", g), 1.0, 250));
  const FixedLearner good(0.79);
  const FixedLearner better(0.8);  // both say less than there is, so any of the other one only does harm
  const auto trusts = weigh(curves, kClock, {&good, &better}, Eigen::Vector2d(1, 0));
  ASSERT_TRUE(trusts);
  EXPECT_GT((*trusts)[0].time[0], 0.9);
}

TEST(Weigh, AMixtureThatDoesNotBeatTheMeanCurveLeavesItHalfOfTheWeight) {
  std::vector<Curve> curves;
  for (int g = 0; g < 4; ++g) curves.push_back(made::curve(cat("g", g), cat("w", g), 1.0, 250));
  const auto share_of_mean = [&](double other, double mean) {
    const FixedLearner first(other);
    const FixedLearner second(mean, "mean-curve");
    return (*weigh(curves, kClock, {&first, &second}, Eigen::Vector2d(1, 0)))[0].time[1];
  };
  EXPECT_NEAR(share_of_mean(0.79, 0.8), 0.52, 0.03);  // as in the test before, but for the name
  EXPECT_LT(share_of_mean(0.8, 0.79), 0.1);
}

TEST(Weigh, JudgesByTheErrorRelativeToWhatWasMeasured) {
  // Clocks halve the speed of half of the workloads and do nothing to the others. In logarithms every mixture
  // of "halves" and "does nothing" is off by as much; 100 % too much is worse than 50 % too little.
  std::vector<Curve> curves;
  for (int g = 0; g < 8; ++g) curves.push_back(made::curve(cat("g", g), cat("w", g), g % 2, 250, {1.0, 0.5}));
  const FixedLearner nothing(0.0);
  const FixedLearner halves(1.0);
  const auto trusts = weigh(curves, kClock, {&nothing, &halves}, Eigen::Vector2d::Ones());
  ASSERT_TRUE(trusts);
  EXPECT_GT((*trusts)[0].time[0], 0.75);
}

TEST(Weigh, TwoGroupsAreLittleToJudgeTheUnlikeBy) {
  const FixedLearner learner(0.8);
  const auto far_scale = [&](int groups) {
    std::vector<Curve> curves;
    for (int g = 0; g < groups; ++g) curves.push_back(made::curve(cat("g", g), cat("w", g), 1.0, 250));
    return (*weigh(curves, kClock, {&learner}, Eigen::VectorXd::Ones(1)))[0].far_scale;
  };
  EXPECT_GT(far_scale(2), 1.5);
  EXPECT_EQ(far_scale(3), 1);
}

TEST(Trusts, NarrowingIsTakenBackForTheUnlike) {
  Trust trust = trust_of(Eigen::Vector2d::Ones());
  trust.time_scale = 0.64;
  trust.energy_scale = 1.5;
  EXPECT_NEAR(for_unlike(trust, 0, 0).time_scale, 0.64, 1e-12);
  EXPECT_NEAR(for_unlike(trust, 1, 0).time_scale, 1, 1e-12);
  EXPECT_NEAR(for_unlike(trust, 1, 1).time_scale, 0.8, 1e-12);  // half of it is left
  EXPECT_EQ(for_unlike(trust, 1, 0).energy_scale, 1.5);
  trust.far_scale = 2;
  EXPECT_NEAR(for_unlike(trust, 1, 0).energy_scale, 3, 1e-12);
  EXPECT_NEAR(for_unlike(trust, 1, 1).energy_scale, 2.25, 1e-12);
  EXPECT_EQ(for_unlike(trust, 0, 0).energy_scale, 1.5);
}

TEST(Trusts, ReadBackAndAreRefusedForAnotherNumberOfMembers) {
  Trusts trusts;
  trusts.fill(trust_of(Eigen::Vector3d::Ones()));
  const auto again = read_trusts(state_of(trusts), 3);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ((*again)[2].energy, trusts[2].energy);
  EXPECT_FALSE(read_trusts(state_of(trusts), 2));
}

TEST(Combined, LearnsPredictsAndReadsBack) {
  const auto curves = made::population();
  const auto model = combined_learner().learn(curves, kClock);
  ASSERT_TRUE(model) << model.error().what;
  const Curve unseen = made::curve("new", "new", 0.5, 250);
  const auto said = (*model)->predict(unseen.known, made::points(unseen));
  ASSERT_TRUE(said) << said.error().what;
  EXPECT_NEAR(std::exp(said->log_time[5]), 1.5, 0.06);  // half the clock, half compute
  const auto again = combined_learner().read((*model)->state());
  ASSERT_TRUE(again) << again.error().what;
  const auto reread = (*again)->predict(unseen.known, made::points(unseen));
  ASSERT_TRUE(reread);
  EXPECT_NEAR((reread->log_time - said->log_time).norm(), 0, 1e-9);
}

TEST(Combined, WhereOneGroupIsAllThereIsTheMeanCurveCountsAsMuchAsTheOthers) {
  std::vector<Curve> curves = made::population();
  for (Curve& c : curves) c.group = "one";
  const auto model = combined_learner().learn(curves, kClock);
  ASSERT_TRUE(model) << model.error().what;
  const nlohmann::json state = (*model)->state();
  double others = 0;
  for (std::size_t m = 0; m < state.at("members").size(); ++m) {
    const auto name = state.at("members").at(m).at("name").get<std::string>();
    const auto weight = state.at("trust").at(0).at("time").at(m).get<double>();
    if (name == "mean-curve")
      EXPECT_NEAR(weight, 1.0 / 3, 1e-9);
    else
      others += weight;
  }
  EXPECT_NEAR(others, 2.0 / 3, 1e-9);
}

}  // namespace
}  // namespace rubato::predict::combined
