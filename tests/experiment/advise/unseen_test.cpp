#include "experiment/advise/unseen.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace rubato::experiment {
namespace {

// One limit below the default: `time` and `energy` there, over the default's.
predict::Curve curve(std::string gpu, int number, double time, double energy) {
  predict::Curve out;
  out.workload = std::to_string(number);
  out.group = "all the same";
  out.known.gpu = std::move(gpu);
  out.known.highest.power_limit = 250_W;
  out.known.at_default = {.at = {.power_limit = 250_W}, .time = 1_s, .energy = 200_J};
  out.rows = {out.known.at_default,
              {.at = {.power_limit = 150_W}, .time = Seconds(time), .energy = Joules(200 * energy)}};
  return out;
}

std::optional<SavingInterval> interval(const std::vector<predict::Curve>& curves) {
  const auto learner = predict::find_learner("mean-curve");
  return saving_on_unseen_gpus(curves, **learner, std::array{Knob::power_limit}, Goal{}, kUsualCaution);
}

std::vector<predict::Curve> on(std::vector<std::string> gpus, std::vector<double> energies) {
  std::vector<predict::Curve> out;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    for (int k = 0; k < 4; ++k) out.push_back(curve(gpus[i], k, 1.01, energies[i] + 0.002 * k));
  return out;
}

TEST(UnseenGpus, TwoGpusAreTooFewToTell) {
  EXPECT_FALSE(interval(on({"A", "B"}, {0.8, 0.8})));
}

TEST(UnseenGpus, WhereAllSaveAlikeTheIntervalIsNarrowAndAboveZero) {
  const auto found = interval(on({"A", "B", "C"}, {0.80, 0.81, 0.80}));
  ASSERT_TRUE(found);
  EXPECT_GT(found->low, 0.15);
  EXPECT_LT(found->high, 0.25);
}

TEST(UnseenGpus, WhereOneLosesTheIntervalSpansZero) {
  const auto found = interval(on({"A", "B", "C"}, {0.75, 0.75, 1.10}));
  ASSERT_TRUE(found);
  EXPECT_LT(found->low, 0);
  EXPECT_GT(found->high, 0);
}

TEST(UnseenGpus, OfTwelveTheIntervalIsStudentsWithElevenDegrees) {
  std::map<std::string, std::vector<double>> savings;
  for (int k = 0; k < 12; ++k) savings[std::to_string(k)] = {k % 2 == 0 ? 0.09 : 0.11};
  const auto found = interval_over_gpus(savings);
  ASSERT_TRUE(found);
  const double error = std::sqrt(12 * 0.0001 / 11 / 12);
  EXPECT_NEAR(found->high - 0.10, 1.796 * error, 1e-6);
  EXPECT_NEAR(0.10 - found->low, 1.796 * error, 1e-6);
}

}  // namespace
}  // namespace rubato::experiment
