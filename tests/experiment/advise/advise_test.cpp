#include "experiment/advise/advise.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

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

}  // namespace
}  // namespace rubato::experiment
