#include "experiment/held_out.h"

#include <gmock/gmock.h>

#include "made.h"

namespace rubato::experiment {
namespace {

using predict::KnobPoint;
using predict::Known;
using testing::SizeIs;

template <class Says>
JudgedWorkload judged(const predict::Curve& curve, Says says, ValidationOptions options = {},
                      double deviation = 1e-6) {
  options.knobs = {Knob::power_limit};
  return judge(SayingModel<Says>(says, deviation), curve, options).value();
}

const predict::Curve kTwoSettings = made_curve("w", "g", {{150, 1.04, 0.9}, {100, 1.25, 0.8}});

/// The curve's own rows.
const auto kTruth = [](const Known&, const KnobPoint& at) {
  return at.power_limit == 150_W ? Ratio{150, 1.04, 0.9} : Ratio{100, 1.25, 0.8};
};

TEST(Judge, TheDefaultIsNoRowThatCounts) {
  const JudgedWorkload w = judged(kTwoSettings, kNothingChanges);
  ASSERT_THAT(w.rows, SizeIs(2));
  EXPECT_EQ(w.rows[0].at.power_limit, 150_W);
  EXPECT_NEAR(w.rows[1].time, 1.25, 1e-12);
  EXPECT_NEAR(w.rows[1].energy, 0.8, 1e-12);
}

TEST(Judge, WhoStaysAtTheDefaultRegretsWhatTheBestWouldHaveSaved) {
  const JudgedWorkload w = judged(kTwoSettings, kNothingChanges);
  EXPECT_NEAR(w.energy_regret, 1 / 0.8 - 1, 1e-12);
  EXPECT_NEAR(w.edp_regret, 1 / (1.04 * 0.9) - 1, 1e-12);
  EXPECT_FALSE(w.chosen);
  EXPECT_EQ(w.saving, 0);
  EXPECT_NEAR(w.oracle_saving, 0.1, 1e-12);  // the 20 % cost 25 % of time
}

TEST(Judge, WhoKnowsTheTruthRegretsNothing) {
  const JudgedWorkload w = judged(kTwoSettings, kTruth);
  EXPECT_NEAR(w.energy_regret, 0, 1e-12);
  EXPECT_NEAR(w.edp_regret, 0, 1e-12);
  EXPECT_EQ(w.chosen->power_limit, 150_W);
  EXPECT_NEAR(w.saving, 0.1, 1e-12);
  EXPECT_NEAR(w.slowdown, 0.04, 1e-12);
}

TEST(Judge, ASettingThatBreaksTheBoundSavesNothing) {
  const JudgedWorkload w = judged(kTwoSettings, [](const Known&, const KnobPoint& at) {
    return at.power_limit == 100_W ? Ratio{100, 1.0, 0.5} : Ratio{};
  });
  EXPECT_EQ(w.chosen->power_limit, 100_W);
  EXPECT_EQ(w.saving, 0);
  EXPECT_NEAR(w.slowdown, 0.25, 1e-12);
}

TEST(Judge, ASettingThatCostsMoreThanTheDefaultCountsAgainst) {
  const auto curve = made_curve("w", "g", {{150, 1.0, 1.2}});
  const JudgedWorkload w = judged(curve, [](const Known&, const KnobPoint&) { return Ratio{150, 1.0, 0.5}; });
  EXPECT_NEAR(w.saving, -0.2, 1e-12);
  EXPECT_NEAR(w.energy_regret, 0.2, 1e-12);
  EXPECT_EQ(w.oracle_saving, 0);
}

TEST(Judge, HostWattsCountInEverySaving) {
  // 2000 J of the board and 10 s of 200 W; at 100 W 1600 J and 12.5 s: 4000 J against 4100 J.
  const auto curve = made_curve("w", "g", {{100, 1.25, 0.8}});
  const JudgedWorkload w = judged(curve, kTruth, {.max_slowdown = 0.5, .host_watts = Watts(200)});
  EXPECT_FALSE(w.chosen);
  EXPECT_EQ(w.oracle_saving, 0);
  EXPECT_EQ(w.energy_regret, 0);
}

TEST(Judge, IntervalsAreOfNinetyPercent) {
  // ln 1.25 = 0.223 = 1.645 x 0.136
  const auto curve = made_curve("w", "g", {{100, 1.25, 1.0}});
  EXPECT_TRUE(judged(curve, kNothingChanges, {}, 0.137).rows[0].time_inside);
  EXPECT_FALSE(judged(curve, kNothingChanges, {}, 0.135).rows[0].time_inside);
  EXPECT_TRUE(judged(curve, kNothingChanges, {}, 0.135).rows[0].energy_inside);
}

TEST(Judge, ARowThatWasNotMeasuredIsAsNoisyAsRowsAre) {
  // 150 W is just inside the bound: a coin's toss where a row scatters by 5 %.
  const auto curve = made_curve("w", "g", {{175, 1.0, 0.85}, {150, 1.045, 0.8}});
  const auto says = [](const Known&, const KnobPoint& at) {
    return at.power_limit == 175_W ? Ratio{175, 1.0, 0.85} : Ratio{150, 1.045, 0.8};
  };
  const auto chosen = [&](double noise, bool counts = true) {
    const ValidationOptions options{.knobs = {Knob::power_limit}, .row_noise = counts};
    return judge(SayingModel(says, 1e-3, noise), curve, options).value().chosen;
  };
  EXPECT_EQ(chosen(0)->power_limit, 150_W);
  EXPECT_EQ(chosen(0.05)->power_limit, 175_W);
  EXPECT_EQ(chosen(0.05, false)->power_limit, 150_W);
}

TEST(Judge, ProbesAreTellingAndAreNotJudged) {
  std::set<std::size_t> probes;
  const auto says = [&](const Known& known, const KnobPoint&) {
    probes.insert(known.probes.size());
    return Ratio{};
  };
  const JudgedWorkload w = judged(kTwoSettings, says, {.probes = 1}, 0.1);
  EXPECT_THAT(probes, testing::ElementsAre(0, 1));
  EXPECT_NE(w.rows[0].probed, w.rows[1].probed);
}

TEST(Judge, MoreProbesThanSettingsAreAllSettings) {
  const JudgedWorkload w = judged(kTwoSettings, kTruth, {.probes = 9}, 0.1);
  EXPECT_TRUE(w.rows[0].probed);
  EXPECT_TRUE(w.rows[1].probed);
}

TEST(Judge, AProbedSettingMayBeChosen) {
  const auto curve = made_curve("w", "g", {{150, 1.04, 0.9}});
  EXPECT_EQ(judged(curve, kTruth, {.probes = 1}, 1e-3).chosen->power_limit, 150_W);
}

TEST(Judge, AProbedSettingIsChosenByWhatWasMeasuredThere) {
  const auto curve = made_curve("w", "g", {{150, 1.04, 0.9}});
  const auto slow = [](const Known&, const KnobPoint&) { return Ratio{150, 1.2, 0.9}; };
  EXPECT_FALSE(judged(curve, slow, {}, 1e-3).chosen);
  EXPECT_EQ(judged(curve, slow, {.probes = 1}, 1e-3).chosen->power_limit, 150_W);
}

}  // namespace
}  // namespace rubato::experiment
