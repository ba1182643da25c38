#include "lab/noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace rubato::lab {
namespace {

constexpr std::int64_t kMany = 100'000;

std::vector<double> distances(const std::vector<float>& values) {
  std::vector<double> out;
  for (const float v : values) out.push_back(std::abs(v - 1.0));
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Noise, TheSameSeedAndJobGiveTheSameDrawAndOthersAnother) {
  const NoiseOptions options{NoiseModel::drift, 0.01};
  const Draw one = draw(options, "a", 1, 100, Seconds(1));
  EXPECT_EQ(one.seen_time, draw(options, "a", 1, 100, Seconds(1)).seen_time);
  EXPECT_EQ(one.own_time, draw(options, "a", 1, 100, Seconds(1)).own_time);
  EXPECT_NE(one.own_time, draw(options, "a", 2, 100, Seconds(1)).own_time);
  EXPECT_NE(one.own_time, draw(options, "b", 1, 100, Seconds(1)).own_time);
}

TEST(Noise, ALongerRunBeginsLikeAShorterOne) {
  const Draw shorter = draw({NoiseModel::steps, 0.01}, "a", 1, 100, Seconds(1));
  Draw longer = draw({NoiseModel::steps, 0.01}, "a", 1, 1000, Seconds(1));
  longer.own_time.resize(100);
  longer.seen_time.resize(100);
  EXPECT_EQ(shorter.own_time, longer.own_time);
  EXPECT_EQ(shorter.seen_time, longer.seen_time);
}

TEST(Noise, IndependentNoiseHasTheLevelAskedForAndLeavesTheTruthAlone) {
  const Draw one = draw({NoiseModel::iid, 0.01}, "a", 1, kMany, Seconds(0.3));
  double mean = 0;
  double squares = 0;
  double crossed = 0;
  for (std::size_t i = 0; i < one.seen_time.size(); ++i) {
    const double t = one.seen_time[i] - 1.0;
    mean += t / kMany;
    squares += t * t / kMany;
    crossed += t * (one.seen_power[i] - 1.0) / kMany;
  }
  EXPECT_NEAR(mean, 0, 2e-4);
  EXPECT_NEAR(std::sqrt(squares), 0.01, 1e-4);
  EXPECT_NEAR(crossed / squares, 0, 0.02);
  EXPECT_TRUE(one.own_time.empty());
}

TEST(Noise, HeavyTailsHaveTheSameMedianDistanceAndFarMoreFarOnes) {
  const auto plain = distances(draw({NoiseModel::iid, 0.01}, "a", 1, kMany, Seconds(0.3)).seen_time);
  const auto heavy = distances(draw({NoiseModel::heavy_tail, 0.01}, "a", 1, kMany, Seconds(0.3)).seen_time);
  EXPECT_NEAR(heavy[kMany / 2] / plain[kMany / 2], 1, 0.03);
  EXPECT_LT(plain.back(), 0.06);
  const auto stalls = std::count_if(heavy.begin(), heavy.end(), [](double d) { return d > 0.15; });
  EXPECT_NEAR(static_cast<double>(stalls) / kMany, 1.0 / 500, 0.0005);
}

TEST(Noise, DriftWarmsUpAndThenWandersByHalfAPercent) {
  double at_start = 0;
  double later = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Draw one = draw({NoiseModel::drift, 0.01}, "a", seed, 2000, Seconds(1));
    at_start += (one.own_time.front() - 1.0) / 400;
    later += std::pow(one.own_time.back() - 1.0, 2) / 400;
  }
  EXPECT_NEAR(at_start, 0.02, 0.001);
  EXPECT_NEAR(std::sqrt(later), 0.005, 0.0006);
}

TEST(Noise, StepsStayLevelForMinutes) {
  const Draw one = draw({NoiseModel::steps, 0.01}, "a", 3, kMany, Seconds(1));
  std::int64_t changes = 0;
  for (std::size_t i = 1; i < one.own_time.size(); ++i) changes += one.own_time[i] != one.own_time[i - 1];
  EXPECT_NEAR(static_cast<double>(changes), kMany / 600.0, 40);
  EXPECT_EQ(one.own_time.front(), 1.0F);
}

TEST(Noise, AnUnknownModelIsRefusedWithTheNamesThereAre) {
  const auto model = parse_noise_model("white");
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().what.find("iid, drift, heavy-tail, steps"), std::string::npos);
}

}  // namespace
}  // namespace rubato::lab
