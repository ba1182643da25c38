#include "predict/shared_curve/knob_basis.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "predict/shared_curve/made_curves.h"

namespace rubato::predict::shared_curve {
namespace {

constexpr std::array kClock = {Knob::sm_clock};
constexpr std::array kCap = {Knob::power_limit};

Curve capped(double watts) {
  Curve c;
  c.workload = cat("at ", watts);
  c.group = "capped";
  c.known.gpu = "made";
  c.known.highest.power_limit = Watts(250);
  for (const double limit : {250.0, 200.0, 150.0, 100.0}) {
    Observed row;
    row.at.power_limit = Watts(limit);
    row.time = Seconds(std::max(1.0, watts / limit));
    row.energy = Watts(std::min(watts, limit)) * row.time;
    c.rows.push_back(row);
  }
  c.known.at_default = c.rows.front();
  return c;
}

TEST(KnobBasis, IsZeroAtTheDefaultAndGrowsBelowIt) {
  const std::vector<Curve> curves = made::population();
  const auto basis = KnobBasis::learn(curves, kClock);
  ASSERT_TRUE(basis) << basis.error().what;
  const auto hinges = basis->hinges(curves[0].known, made::points(curves[0]));
  ASSERT_TRUE(hinges);
  EXPECT_NEAR(hinges->row(0).norm(), 0, 1e-12);
  for (Eigen::Index i = 1; i < hinges->rows(); ++i)
    EXPECT_GT(hinges->row(i).norm(), hinges->row(i - 1).norm());
}

TEST(KnobBasis, AKnobThatIsNotLockedStandsAtItsHighest) {
  const std::vector<Curve> curves = made::population();
  const auto basis = KnobBasis::learn(curves, kClock);
  ASSERT_TRUE(basis);
  const std::vector<KnobPoint> at = {KnobPoint{}};
  EXPECT_NEAR(basis->hinges(curves[0].known, at)->norm(), 0, 1e-12);
}

TEST(KnobBasis, ACapCountsFromThePowerItTakesAway) {
  const std::vector<Curve> curves = {capped(200), capped(100), capped(50)};
  const auto basis = KnobBasis::learn(curves, kCap);
  ASSERT_TRUE(basis) << basis.error().what;
  KnobPoint at_150_w;
  at_150_w.power_limit = Watts(150);
  const auto hot = basis->hinges(curves[0].known, std::vector<KnobPoint>{at_150_w});
  const auto cool = basis->hinges(curves[2].known, std::vector<KnobPoint>{at_150_w});
  EXPECT_GT(hot->norm(), 0.2);
  EXPECT_LT(cool->norm(), 0.01);  // three times what it draws
}

TEST(KnobBasis, NamesTheFeatureThatIsMissing) {
  std::vector<Curve> curves = made::population();
  double value = 0;
  for (Curve& c : curves) c.known.features["dram_active"] = value += 0.01;
  const auto basis = KnobBasis::learn(curves, kClock);
  ASSERT_TRUE(basis);
  curves[0].known.features.clear();
  const auto covariates = basis->covariates(curves[0].known);
  ASSERT_FALSE(covariates);
  EXPECT_EQ(covariates.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(covariates.error().what.find("dram_active"), std::string::npos);
}

TEST(KnobBasis, RefusesAKnobWhoseHighestNobodyKnows) {
  std::vector<Curve> curves = made::population();
  const auto basis = KnobBasis::learn(curves, kCap);
  ASSERT_FALSE(basis);
  EXPECT_NE(basis.error().what.find("power-limit"), std::string::npos);
}

TEST(KnobBasis, ReadsBackWhatItWrote) {
  const std::vector<Curve> curves = made::population();
  const auto basis = KnobBasis::learn(curves, kClock);
  ASSERT_TRUE(basis);
  const auto again = KnobBasis::read(basis->state());
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->state(), basis->state());
  EXPECT_EQ(again->columns(), basis->columns());
}

}  // namespace
}  // namespace rubato::predict::shared_curve
