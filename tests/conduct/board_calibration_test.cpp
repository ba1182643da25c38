#include "conduct/board_calibration.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "base/random.h"

namespace rubato::conduct {
namespace {

using measure::PowerAt;
using testing::HasSubstr;

constexpr TimePoint kBegin{1'000'000'000'000};

/// True power: another level every few seconds.
struct Board {
  explicit Board(std::uint64_t seed, double low = 60, double high = 250) {
    Random random(seed);
    for (double t = -30; t < 400; t += 6 + 12 * random.uniform())
      levels.emplace_back(t, random.uniform(low, high));
  }
  [[nodiscard]] double at(double t) const {
    double w = 0;
    for (const auto& [since, watts] : levels)
      if (since <= t) w = watts;
    return w;
  }
  std::vector<std::pair<double, double>> levels;
};

std::vector<PowerAt> read(double seconds, double period, const std::function<double(double)>& watts) {
  std::vector<PowerAt> out;
  for (double t = 0; t < seconds; t += period) out.push_back({kBegin + Seconds(t), Watts(watts(t))});
  return out;
}

TEST(BoardFit, FindsGainAndBaseInsideItsBandBehindLagAndNoise) {
  int inside = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Board truth(seed);
    Random noise(seed + 1000);
    // The board tells 5 % too little; the meter sees 150 W of host besides, 1.4 s late.
    const auto board = read(300, 0.1, [&](double t) { return 0.95 * truth.at(t); });
    const auto meter = read(300, 1, [&](double t) { return 150 + truth.at(t - 1.4) + 2 * noise.normal(); });
    const auto fit = fit_board(board, meter, 250_W);
    ASSERT_TRUE(fit) << fit.error().what;
    EXPECT_NEAR(fit->gain(), 0.95, 0.02) << seed;
    EXPECT_NEAR(fit->base.value(), 150, 3);
    EXPECT_NEAR(fit->lag.lag.value(), 1.4, 0.3);
    EXPECT_GT(fit->r_squared, 0.98);
    EXPECT_LT(fit->slope_band, 0.03);
    if (std::abs(fit->slope - 1 / 0.95) <= fit->slope_band) ++inside;
  }
  EXPECT_GE(inside, 16) << "of 20, at 95 %";
}

TEST(BoardFit, RefusesPowerThatMovedTooLittle) {
  const Board truth(1, 100, 140);
  const auto board = read(300, 0.1, [&](double t) { return truth.at(t); });
  const auto meter = read(300, 1, [&](double t) { return 150 + truth.at(t); });
  const auto fit = fit_board(board, meter, 250_W);
  ASSERT_FALSE(fit);
  EXPECT_THAT(fit.error().what, HasSubstr("% of its 250 W; needed are 20 %"));
  EXPECT_THAT(fit.error().hint, HasSubstr("idle and full"));
}

TEST(BoardFit, RefusesALineThatDoesNotFit) {
  const Board truth(1);
  const Board host(99, 0, 100);
  const auto board = read(300, 0.1, [&](double t) { return truth.at(t); });
  const auto meter = read(300, 1, [&](double t) { return 150 + truth.at(t) + host.at(t); });
  const auto fit = fit_board(board, meter, 250_W);
  ASSERT_FALSE(fit);
  EXPECT_THAT(fit.error().what, HasSubstr("R^2"));
}

TEST(BoardFit, RefusesWhatCannotBeAligned) {
  const auto still = read(300, 0.1, [](double) { return 100; });
  const auto fit = fit_board(still, read(300, 1, [](double) { return 200; }), 250_W);
  ASSERT_FALSE(fit);
  EXPECT_THAT(fit.error().what, HasSubstr("did not move"));
}

TEST(BoardFit, NeedsEnoughWindows) {
  const Board truth(1);
  const auto board = read(60, 0.1, [&](double t) { return truth.at(t); });
  const auto meter = read(60, 2, [&](double t) { return truth.at(t); });
  const auto fit = fit_board(board, meter, 250_W);
  ASSERT_FALSE(fit);
  EXPECT_THAT(fit.error().what, HasSubstr("needed are 10"));
}

}  // namespace
}  // namespace rubato::conduct
