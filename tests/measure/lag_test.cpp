#include "measure/lag.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "base/random.h"

namespace rubato::measure {
namespace {

using testing::HasSubstr;

constexpr TimePoint kBegin{1'000'000'000'000};

/// Steps between 100 and 300 W at random moments, the same for every reader of one seed.
class Load {
 public:
  explicit Load(std::uint64_t seed) : random_(seed) {
    for (double t = -60; t < 700; t += 0.5 + 4 * random_.uniform())
      steps_.emplace_back(t, 100 + 200 * random_.uniform());
  }
  [[nodiscard]] double at(double t) const {
    double w = steps_.front().second;
    for (const auto& [since, watts] : steps_) {
      if (since > t) break;
      w = watts;
    }
    return w;
  }
  /// Mean over the second half-open stretch before t.
  [[nodiscard]] double mean(double t, double window) const {
    double sum = 0;
    for (int i = 0; i < 20; ++i) sum += at(t - window * (i + 0.5) / 20);
    return sum / 20;
  }

 private:
  Random random_;
  std::vector<std::pair<double, double>> steps_;
};

std::vector<PowerAt> read(double seconds, double period, const std::function<double(double)>& watts) {
  std::vector<PowerAt> out;
  for (double t = 0; t < seconds; t += period) out.push_back({kBegin + Seconds(t), Watts(watts(t))});
  return out;
}

class KnownLag : public testing::TestWithParam<double> {};

TEST_P(KnownLag, IsFoundToAFractionOfTheMetersPeriod) {
  const double lag = GetParam();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Load load(seed);
    Random noise(seed + 100);
    const auto gpus = read(180, 0.1, [&](double t) { return load.at(t); });
    const auto meter =
        read(180, 1.0, [&](double t) { return 80 + 1.1 * load.at(t - lag) + 10 * noise.normal(); });
    const auto found = estimate_lag(gpus, meter);
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_NEAR(found->lag.value(), lag, 0.2) << "seed " << seed;
    EXPECT_GT(found->correlation, 0.8);
  }
}
INSTANTIATE_TEST_SUITE_P(Lags, KnownLag, testing::Values(-0.4, 0.0, 0.37, 1.0, 2.62, 7.3, 11.9));

TEST(Lag, OfAMeanIsHalfItsWindowMore) {
  const Load load(7);
  const auto gpus = read(180, 0.1, [&](double t) { return load.at(t); });
  const auto meter = read(180, 1.0, [&](double t) { return load.mean(t - 1, 2.0); });
  const auto found = estimate_lag(gpus, meter);
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_NEAR(found->lag.value(), 2.0, 0.2);
}

TEST(Lag, OfAnEnergyCounterIsFoundAsWell) {
  const Load load(3);
  std::vector<EnergyAt> counter;
  double joules = 0;
  for (int tick = 0; tick < 18000; ++tick) {
    joules += 0.01 * load.at(0.01 * tick - 0.5);
    if (tick % 10 == 0) counter.push_back({kBegin + Seconds(0.01 * tick), Joules(std::floor(joules))});
  }
  const auto gpus = read(180, 0.1, [&](double t) { return load.at(t); });
  const auto found = estimate_lag(gpus, differentiate(counter));
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_NEAR(found->lag.value(), 0.5, 0.1);
}

TEST(Lag, IsUnknownWhereTheTwoHaveNothingInCommon) {
  const Load load(1);
  const Load other(2);
  const auto gpus = read(180, 0.1, [&](double t) { return load.at(t); });
  const auto meter = read(180, 1.0, [&](double t) { return other.at(t); });
  const auto found = estimate_lag(gpus, meter);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().what, HasSubstr("needed is 0.7"));
}

TEST(Lag, IsUnknownWherePowerDoesNotMove) {
  const auto still = read(180, 0.1, [](double) { return 200; });
  const auto meter = read(180, 1.0, [](double t) { return 300 + std::fmod(t, 7); });
  const auto found = estimate_lag(still, meter);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().what, HasSubstr("did not move"));
}

TEST(Lag, IsUnknownWhereTheLoadRepeatsItself) {
  const auto beat = [](double t) { return std::fmod(t + 100, 5) < 2.5 ? 300.0 : 100.0; };
  const auto gpus = read(180, 0.1, beat);
  const auto meter = read(180, 1.0, [&](double t) { return beat(t - 1.2); });
  const auto found = estimate_lag(gpus, meter);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().what, HasSubstr("repeats itself"));
}

TEST(Lag, NeedsEnoughReadings) {
  const Load load(1);
  const auto gpus = read(20, 0.1, [&](double t) { return load.at(t); });
  const auto meter = read(20, 1.0, [&](double t) { return load.at(t); });
  const auto found = estimate_lag(gpus, meter);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().what, HasSubstr("needed are 35 s"));
  EXPECT_FALSE(estimate_lag({}, meter));
}

TEST(Lag, ALongHoleInTheMeterIsNotBridged) {
  const Load load(4);
  const auto gpus = read(180, 0.1, [&](double t) { return load.at(t); });
  auto meter = read(180, 1.0, [&](double t) { return load.at(t - 2); });
  std::erase_if(meter, [](const PowerAt& p) {
    const double t = (p.at - kBegin).value();
    return t > 60 && t < 120;
  });
  const auto found = estimate_lag(gpus, meter);
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_NEAR(found->lag.value(), 2, 0.2);
  EXPECT_LT(found->overlap, 130_s);
}

TEST(Differentiate, PlacesTheMeanPowerBetweenUpdates) {
  const std::vector<EnergyAt> readings = {{kBegin, 0_J},
                                          {kBegin + 1_s, 0_J},
                                          {kBegin + 2_s, 200_J},
                                          {kBegin + 3_s, 50_J},  // began anew
                                          {kBegin + 4_s, 150_J}};
  const auto power = differentiate(readings);
  ASSERT_EQ(power.size(), 2U);
  EXPECT_EQ(power[0].at, kBegin + 1_s);
  EXPECT_EQ(power[0].power, 100_W);
  EXPECT_EQ(power[1].at, kBegin + 3.5_s);
  EXPECT_EQ(power[1].power, 100_W);
}

}  // namespace
}  // namespace rubato::measure
