#include "experiment/advise/advise.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "core/sweep_table.h"
#include "predict/trees/xgboost_library.h"

namespace rubato::experiment {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// A cap of 60 % of the default costs 3 % of time and saves 20 % of energy; of 40 %, 30 % and 25 %.
class TwoLimits final : public predict::Model {
 public:
  Result<predict::Prediction> predict(const predict::Known&,
                                      std::span<const predict::KnobPoint> at) const override {
    predict::Prediction out;
    const auto n = static_cast<Eigen::Index>(at.size());
    out.at.assign(at.begin(), at.end());
    out.log_time = out.log_energy = Eigen::VectorXd::Zero(n);
    out.time_own = out.energy_own = Eigen::VectorXd::Constant(n, 0.005);
    out.time_factor = out.energy_factor = Eigen::MatrixXd::Zero(n, 0);
    for (Eigen::Index i = 0; i < n; ++i) {
      const bool low = at[static_cast<std::size_t>(i)].power_limit < 120_W;
      out.log_time[i] = std::log(low ? 1.30 : 1.03);
      out.log_energy[i] = std::log(low ? 0.75 : 0.80);
    }
    return out;
  }
  nlohmann::json state() const override { return {}; }
};

AdviceRequest request(std::string gpu) {
  AdviceRequest out;
  out.known.gpu = std::move(gpu);
  out.known.at_default = {.at = {.power_limit = 250_W}, .time = 1_s, .energy = 200_J};
  out.candidates = {{.power_limit = 100_W}, {.power_limit = 150_W}};
  return out;
}

ModelFacts facts(std::optional<SavingInterval> unseen = {}) {
  return {.name = "the model", .gpus_seen = {"V100"}, .on_unseen_gpus = unseen};
}

TEST(SameBoard, TheDriversNameHoldsEveryWordOfTheTables) {
  EXPECT_TRUE(same_board("V100", "Tesla V100-PCIE-16GB"));
  EXPECT_TRUE(same_board("A100 SXM", "NVIDIA A100-SXM4-80GB"));
  EXPECT_TRUE(same_board("GTX 1080 Ti", "NVIDIA GeForce GTX 1080 Ti"));
  EXPECT_TRUE(same_board("Tesla V100-PCIE-16GB", "Tesla V100-PCIE-16GB"));
  EXPECT_FALSE(same_board("A100 PCIe", "NVIDIA A100-SXM4-80GB"));
  EXPECT_FALSE(same_board("A10", "NVIDIA A100-SXM4-80GB"));
  EXPECT_FALSE(same_board("", "Tesla T4"));
}

TEST(SameBoard, AnotherBoardOfALongerNameIsNotTheShorterOne) {
  EXPECT_FALSE(same_board("GTX 1080", "NVIDIA GeForce GTX 1080 Ti"));
  EXPECT_FALSE(same_board("RTX 4080", "NVIDIA GeForce RTX 4080 SUPER"));
  EXPECT_FALSE(same_board("RTX 4090", "NVIDIA GeForce RTX 4090 Laptop GPU"));
  EXPECT_FALSE(same_board("RTX 4090", "NVIDIA GeForce RTX 4090 D"));
  EXPECT_FALSE(same_board("RTX 2080", "NVIDIA GeForce RTX 2080 with Max-Q Design"));
  EXPECT_FALSE(same_board("RTX 6000", "NVIDIA RTX 6000 Ada Generation"));
  EXPECT_TRUE(same_board("RTX 6000 Ada", "NVIDIA RTX 6000 Ada Generation"));
  EXPECT_TRUE(same_board("RTX 4090 Laptop", "NVIDIA GeForce RTX 4090 Laptop GPU"));
}

TEST(Advise, NamesTheSettingItsSavingAndThePriceOfASecond) {
  const auto advice = advise(TwoLimits(), facts(), request("Tesla V100-PCIE-16GB"));
  ASSERT_TRUE(advice) << advice.error().what;
  EXPECT_TRUE(advice->gpu_seen);
  EXPECT_THAT(advice->refused, IsEmpty());
  ASSERT_TRUE(advice->at);
  EXPECT_EQ(advice->at->power_limit, 150_W);
  EXPECT_NEAR(advice->choice.energy.median, 0.80, 1e-9);
  // 40 J for 0.03 s, then 10 J for 0.27 s.
  EXPECT_NEAR(advice->price.faster.value().value(), 40 / 0.03, 1e-6);
  EXPECT_NEAR(advice->price.slower.value().value(), 10 / 0.27, 1e-6);
}

TEST(Advise, RefusesANumberForAGpuItHasNeverSeen) {
  const auto advice = advise(TwoLimits(), facts(), request("Tesla T4"));
  ASSERT_TRUE(advice);
  EXPECT_FALSE(advice->gpu_seen);
  EXPECT_FALSE(advice->at);
  EXPECT_THAT(advice->refused, HasSubstr("never seen a Tesla T4 (it has seen V100)"));
}

TEST(Advise, OfAnUnseenGpuTheIntervalOnGpusLeftOutDecides) {
  const auto spans_zero = advise(TwoLimits(), facts(SavingInterval{-0.02, 0.10}), request("Tesla T4"));
  EXPECT_THAT(spans_zero->refused, HasSubstr("-2 % to 10 %"));
  const auto helps = advise(TwoLimits(), facts(SavingInterval{0.03, 0.10}), request("Tesla T4"));
  EXPECT_THAT(helps->refused, IsEmpty());
  EXPECT_FALSE(helps->gpu_seen);
  EXPECT_TRUE(helps->at);
}

TEST(Advise, NothingWorthTheRiskLeavesEverythingAsItIs) {
  AdviceRequest tight = request("Tesla V100-PCIE-16GB");
  tight.goal.max_slowdown = 0.005;
  const auto advice = advise(TwoLimits(), facts(), tight);
  ASSERT_TRUE(advice);
  EXPECT_THAT(advice->refused, IsEmpty());
  AdviceRequest only_slow = tight;
  only_slow.candidates = {{.power_limit = 100_W}};
  only_slow.caution.confidence = 0.5;
  const auto none = advise(TwoLimits(), facts(), only_slow);
  EXPECT_FALSE(none->at);
  EXPECT_THAT(none->choice.why, HasSubstr("no saving worth the risk"));
}

/// Workloads under five SM clocks that are slower at low ones than physics has it; no limit varied.
SweepTable clock_table() {
  SweepTable out;
  for (int i = 0; i < 12; ++i)
    for (const double clock : {600.0, 800.0, 1000.0, 1200.0, 1400.0}) {
      const double x = clock / 1400;
      const Seconds time(1 + (0.3 + 0.04 * i) * (1 / (x * x) - 1));
      const Watts power(60 + 140 * x * x * x);
      out.rows.push_back({.gpu = "V100",
                          .workload = cat("w", i),
                          .group = cat("g", i / 2),
                          .power_limit = 250_W,
                          .sm_clock = Megahertz(clock),
                          .memory_clock = {},
                          .time = time,
                          .power = power,
                          .energy = power * time,
                          .is_default = {},
                          .features = {}});
    }
  return out;
}

/// A run tells its power limit, whatever the model learnt from.
AdviceRequest on_clocks() {
  AdviceRequest out = request("Tesla V100-PCIE-16GB");
  out.known.highest = {.power_limit = 250_W, .sm_clock = 1400_MHz};
  out.candidates.clear();
  for (const double clock : {600.0, 800.0, 1000.0, 1200.0, 1400.0})
    out.candidates.push_back({.sm_clock = Megahertz(clock)});
  return out;
}

class ClockModel : public testing::TestWithParam<const char*> {};

TEST_P(ClockModel, IsAskedAsItsTableTold) {
  if (std::string_view(GetParam()) == "trees" && !predict::trees::xgboost_library())
    GTEST_SKIP() << "the XGBoost library is not here";
  const std::array knobs{Knob::sm_clock};
  const auto curves = predict::curves_of(clock_table(), knobs);
  ASSERT_TRUE(curves) << curves.error().what;
  const auto model = (*predict::find_learner(GetParam()))->learn(*curves, knobs);
  ASSERT_TRUE(model) << model.error().what;
  ModelFacts of_clocks = facts();
  of_clocks.knobs = {Knob::sm_clock};
  AdviceRequest asked = on_clocks();
  asked.known.probes = {{.at = {.sm_clock = 1000_MHz}, .time = 1.5_s, .energy = 170_J}};
  const auto advice = advise(**model, of_clocks, asked);
  ASSERT_TRUE(advice) << advice.error().what;
  predict::Known as_learnt = (*curves)[0].known;
  as_learnt.at_default.at = {};
  as_learnt.at_default.time = asked.known.at_default.time;
  as_learnt.at_default.energy = asked.known.at_default.energy;
  as_learnt.probes = asked.known.probes;
  const auto told = (*model)->predict(as_learnt, asked.candidates);
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_TRUE(advice->believed.log_time.isApprox(told->log_time));
  EXPECT_TRUE(advice->believed.log_energy.isApprox(told->log_energy));
}

INSTANTIATE_TEST_SUITE_P(Advise, ClockModel, testing::Values("physical", "trees", "rubato"));

TEST(Advise, AKnobThatTheModelNeverSawIsSaid) {
  ModelFacts of_clocks = facts();
  of_clocks.knobs = {Knob::sm_clock};
  EXPECT_TRUE(check_knobs(of_clocks, std::array{Knob::sm_clock}));
  EXPECT_THAT(check_knobs(of_clocks, std::array{Knob::power_limit}).error().what,
              HasSubstr("did not learn what the power-limit does"));
  EXPECT_TRUE(check_knobs(facts(), std::array{Knob::power_limit})) << "facts that name none";
}

}  // namespace
}  // namespace rubato::experiment
