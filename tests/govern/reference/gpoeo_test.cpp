#include "govern/reference/gpoeo.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "govern/reference/made_curves.h"

namespace rubato::govern {
namespace {

using testing::ElementsAre;

const Aim kSameGoal{};

// Time bends below 1500 MHz, energy falls with the clock; a lower memory clock costs time.
Ratio bends_at_1500(const predict::KnobPoint& at) {
  const double f = at.sm_clock.value_or(1995_MHz).value();
  const double memory = at.memory_clock.value_or(9501_MHz).value();
  const double slow = f >= 1500 ? 0 : (1500 - f) * 0.0002;
  return {(1 + slow) * (memory > 9000 ? 1 : 1.3), (0.6 + 0.4 * f / 1995) * (memory > 9400 ? 1 : 0.99)};
}

/// Knows that 1500 MHz is best.
class Oracle final : public predict::Model {
 public:
  Result<predict::Prediction> predict(const predict::Known& known,
                                      std::span<const predict::KnobPoint> at) const override {
    predict::Prediction out;
    out.at.assign(at.begin(), at.end());
    out.log_time.resize(static_cast<Eigen::Index>(at.size()));
    out.log_energy.resize(static_cast<Eigen::Index>(at.size()));
    for (std::size_t i = 0; i < at.size(); ++i) {
      const bool best = at[i].sm_clock == 1500_MHz;
      out.log_time(static_cast<Eigen::Index>(i)) = 0;
      out.log_energy(static_cast<Eigen::Index>(i)) = best ? -0.1 : 0;
    }
    features_seen = known.features.size();
    return out;
  }
  nlohmann::json state() const override { return {}; }
  mutable std::size_t features_seen = 0;
};

TEST(Gpoeo, WithoutAModelItStartsAtTheFoundSettingAndWalksDown) {
  const auto space = clocks(210, 1995, 15);
  Gpoeo search({}, space, 0, kSameGoal);
  const Walk out = walk(search, space, bends_at_1500);
  // The baseline is the start. Twelve gears are 180 MHz.
  EXPECT_EQ(tried_clocks(out)[0], 1815);
  EXPECT_EQ(tried_clocks(out)[1], 1635);
  EXPECT_LE(bends_at_1500(out.end.at).time, 1.055);
  EXPECT_GE(out.end.at.sm_clock, 1200_MHz);
}

TEST(Gpoeo, TheModelsBestClockIsTheFirstItMeasures) {
  const auto space = clocks(210, 1995, 15);
  const auto model = std::make_shared<Oracle>();
  Gpoeo search({.model = model}, space, 0, kSameGoal);
  search.features({{"ipc", 1.0}});
  EXPECT_EQ(tried_clocks(walk(search, space, bends_at_1500)).front(), 1500);
  EXPECT_EQ(model->features_seen, 1U);
}

TEST(Gpoeo, MemoryClocksComeFirst) {
  const auto space = gpoeo_board();
  Gpoeo search({}, space, 0, kSameGoal);
  const Walk out = walk(search, space, bends_at_1500);
  // From the top: one below, two below; 5001 MHz costs 30 % of time.
  EXPECT_EQ(out.tried[0].at.memory_clock, 9251_MHz);
  EXPECT_EQ(out.tried[1].at.memory_clock, 5001_MHz);
  for (std::size_t i = 2; i < out.tried.size(); ++i) EXPECT_EQ(out.tried[i].at.memory_clock, 9251_MHz);
  EXPECT_EQ(out.end.at.memory_clock, 9251_MHz);
}

TEST(Gpoeo, ASpreadBelowHalfSearchesFromTheHeldGear) {
  const auto space = clocks(210, 1995, 15);
  Gpoeo search({}, space, 0, kSameGoal);
  const Walk first = walk(search, space, bends_at_1500);
  const auto held = [](double watts) { return Cost{.work = 10, .time = 1_s, .energy = Joules(watts)}; };
  EXPECT_FALSE(search.again(held(200)));
  EXPECT_FALSE(search.again(held(235)));
  EXPECT_TRUE(search.again(held(245)));  // 20 % of their mean
  const Walk second = walk(search, space, bends_at_1500);
  EXPECT_EQ(second.tried.front().at, first.end.at);
}

TEST(PowerSpreadTest, QuietLooksMakeItLookMoreSeldom) {
  PowerSpread spread({});
  std::vector<double> sleeps;
  for (int i = 0; i < 8; ++i) {
    spread.look(200_W);
    sleeps.push_back(spread.sleep());
  }
  EXPECT_THAT(sleeps, ElementsAre(0, 0, 4, 8, 16, 32, 32, 32));
}

TEST(PowerSpreadTest, OnlyAsPublishedASlowDriftEndsTheHold) {
  for (const bool as_published : {false, true}) {
    PowerSpread spread({.never_forgets = as_published});
    bool broken = false;
    for (int i = 0; i <= 50; ++i) broken |= spread.broken(spread.look(Watts(200 + i)));
    EXPECT_EQ(broken, as_published);
  }
}

}  // namespace
}  // namespace rubato::govern
