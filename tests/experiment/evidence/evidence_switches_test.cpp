#include "experiment/evidence_switches.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/random.h"

namespace rubato::experiment {
namespace {

TimePoint at_s(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

constexpr predict::KnobPoint kLimited{.power_limit = 150_W};

/// From 6 s to 14 s every 10 ms; a change is asked for at 10 s.
std::vector<Glance> watched(const std::function<double(double)>& watts,
                            const std::function<double(double)>& mhz, double scatter_w = 0) {
  std::vector<Glance> out;
  Random random(3);
  for (int i = 600; i < 1400; ++i) {
    const double t = i * 0.01;
    out.push_back({at_s(t), Megahertz(mhz(t)), Watts(watts(t) + scatter_w * random.normal()),
                   Watts(t > 10.005 ? 150 : 200)});
  }
  return out;
}

SwitchTimes times(const std::vector<Glance>& glances) {
  return times_of({at_s(10), at_s(14), kLimited, {}}, glances);
}

double flat(double) {
  return 1380;
}

TEST(SwitchTimes, AStepIsSeenWhenItHappens) {
  const auto t = times(watched([](double s) { return s < 10.2 ? 200 : 150; },
                               [](double s) { return s < 10.05 ? 1380 : 1100; }));
  ASSERT_TRUE(t.power && t.clock && t.read_back);
  EXPECT_NEAR(t.power->value(), 0.2, 0.011);
  EXPECT_NEAR(t.clock->value(), 0.05, 0.011);
  EXPECT_NEAR(t.read_back->value(), 0.01, 0.001);
}

TEST(SwitchTimes, ACreepingValueCountsAtNineTenthsOfTheWay) {
  // exp(-t / 0.3 s) leaves a tenth after 0.69 s.
  const auto t = times(
      watched([](double s) { return s < 10 ? 200 : 150 + 50 * std::exp(-(s - 10) / 0.3); }, &flat, 0.2));
  ASSERT_TRUE(t.power);
  EXPECT_NEAR(t.power->value(), 0.69, 0.05);
}

TEST(SwitchTimes, OneStrayReadingIsNotTheChange) {
  const auto t = times(watched(
      [](double s) {
        if (s > 10.095 && s < 10.105) return 140.0;
        return s < 10.5 ? 200.0 : 150.0;
      },
      &flat));
  ASSERT_TRUE(t.power);
  EXPECT_NEAR(t.power->value(), 0.5, 0.011);
}

TEST(SwitchTimes, WhereNothingStandsOutOfTheScatterNothingIsClaimed) {
  const auto t = times(watched([](double s) { return s < 10 ? 200 : 197; }, &flat, 5));
  EXPECT_FALSE(t.power);
  EXPECT_FALSE(t.clock) << "a clock that never moved was not reached either";
}

TEST(SwitchTimes, UpIsMeasuredAsDownIs) {
  const auto t = times(
      watched([](double s) { return s < 10.3 ? 150 : 200; }, [](double s) { return s < 10.1 ? 900 : 1380; }));
  ASSERT_TRUE(t.power && t.clock);
  EXPECT_NEAR(t.power->value(), 0.3, 0.011);
  EXPECT_NEAR(t.clock->value(), 0.1, 0.011);
}

TEST(SwitchTimes, ALimitIsReadBackOnlyWhereOneIsChanged) {
  const predict::KnobPoint clock{.sm_clock = 1005_MHz};
  EXPECT_FALSE(times_of({at_s(10), at_s(14), clock, {}}, watched(&flat, &flat)).read_back);
  EXPECT_TRUE(times_of({at_s(10), at_s(14), {}, kLimited}, watched(&flat, &flat)).read_back);
}

TEST(SwitchTimes, ASummaryIsOfAllRepeats) {
  const auto s = summary_of({Seconds(0.1), Seconds(0.5), Seconds(0.2), Seconds(0.4)});
  ASSERT_TRUE(s);
  EXPECT_EQ(s->count, 4);
  EXPECT_DOUBLE_EQ(s->least.value(), 0.1);
  EXPECT_DOUBLE_EQ(s->median.value(), 0.3);
  EXPECT_DOUBLE_EQ(s->mean.value(), 0.3);
  EXPECT_DOUBLE_EQ(s->most.value(), 0.5);
  EXPECT_NEAR(s->deviation->value(), 0.1826, 1e-4);
  EXPECT_FALSE(summary_of({}));
  EXPECT_FALSE(summary_of({Seconds(1)})->deviation);
}

TEST(Switches, AreThoseTheDriverAcceptedEachUntilTheNext) {
  record::RunRecord run;
  const auto change = [&run](double s, const char* who, const char* outcome, bool limited) {
    record::SettingChange c;
    c.at = at_s(s);
    c.who = who;
    c.outcome = outcome;
    if (limited) c.asked.power_limit = 150_W;
    run.setting_changes.push_back(c);
  };
  change(1, "rubato", "applied", true);
  change(5, "rubato", "restored", false);
  change(7, "rubato", "refused: no", true);
  change(9, "someone else", "left alone", true);
  const auto switches = switches_of(run, Seconds(10));
  ASSERT_EQ(switches.size(), 2);
  EXPECT_EQ(switches[0].to, kLimited);
  EXPECT_EQ(switches[0].until, at_s(5));
  EXPECT_EQ(switches[1].from, kLimited);
  EXPECT_EQ(switches[1].to, predict::KnobPoint{});
  EXPECT_EQ(switches[1].until, at_s(15));
}

}  // namespace
}  // namespace rubato::experiment
