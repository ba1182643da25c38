// What a meter used up to now, and between the edges of a window, where its readings lie beside both.
#include "conduct/meter_watch.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace rubato::conduct {
namespace {

constexpr TimePoint kBegin{1'000'000'000'000};

TimePoint at(double s) {
  return kBegin + Seconds(s);
}

record::ChannelInfo channel(std::string name, Scope scope, Seconds period = 0.1_s) {
  return {"rapl",
          {.name = std::move(name), .scope = scope, .has_energy = true, .sensor = {.update_period = period}}};
}

/// A counter of what draws 40 W up to the second second and `then` after, read each `period` up to `until`.
void feed(MeterWatch& watch, double from, double until, double period = 0.1, double then = 40) {
  for (double t = from; t <= until + 1e-9; t += period) {
    const Joules energy(40 * std::min(t, 2.0) + then * std::max(t - 2.0, 0.0));
    watch.take({{.meter = 0, .at = at(t), .readings = {{.channel = 0, .at = at(t), .energy = energy}}}},
               at(t));
  }
}

MeterWatch watch_of(std::vector<record::ChannelInfo> channels) {
  return {std::move(channels), kBegin, nullptr, nullptr};
}

TEST(MeterWatch, WhatWasDrawnSoFarIsMovedToTheMomentByTheLatestPower) {
  MeterWatch watch = watch_of({channel("package-0", Scope::cpu_package)});
  feed(watch, 0, 10);
  for (const double moment : {9.85, 10.0, 10.2}) {
    const auto all = watch.so_far(at(moment));
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].meter + "/" + all[0].channel, "rapl/package-0");
    EXPECT_EQ(all[0].scope, Scope::cpu_package);
    ASSERT_TRUE(all[0].energy) << moment;
    EXPECT_NEAR(all[0].energy->energy.value(), 40 * moment, 0.01);
    EXPECT_NEAR(all[0].power->value(), 40, 0.01);
  }
  const double exact = watch.so_far(at(10.0))[0].energy->band_sampling.value();
  EXPECT_GE(watch.so_far(at(10.2))[0].energy->band_sampling.value(), exact + 40 * 0.2 - 1e-6)
      << "all of what was not read is doubted";
}

TEST(MeterWatch, AMeterThatFellSilentHasNoEnergyUpToNow) {
  MeterWatch watch = watch_of({channel("package-0", Scope::cpu_package)});
  feed(watch, 0, 10);
  EXPECT_FALSE(watch.so_far(at(60))[0].energy);
  EXPECT_FALSE(watch_of({channel("a", Scope::dram)}).so_far(at(1))[0].energy) << "nothing was told yet";
}

TEST(MeterWatch, AWindowIsWhatLiesBetweenItsEdges) {
  MeterWatch watch = watch_of({channel("package-0", Scope::cpu_package)});
  feed(watch, 0, 2);
  watch.pin(at(2.03));
  feed(watch, 2.1, 500, 0.1, 100);
  const auto energy = watch.energy(0, at(2.03), at(500));
  ASSERT_TRUE(energy) << energy.error().what;
  EXPECT_NEAR(energy->energy.value(), 100 * (500 - 2.03), 0.1);
}

TEST(MeterWatch, AWindowThatASlowMeterToldNothingInSaysSo) {
  MeterWatch watch = watch_of({channel("outlet-1", Scope::node, 10_s)});
  feed(watch, 0, 20, 10);
  watch.pin(at(20.5));
  const auto energy = watch.energy(0, at(20.5), at(23));
  ASSERT_FALSE(energy);
  EXPECT_THAT(energy.error().what, testing::HasSubstr("told nothing in this time; it is read every 10"));
  feed(watch, 30, 30, 10);
  const auto longer = watch.energy(0, at(20.5), at(34));
  ASSERT_TRUE(longer) << longer.error().what;
  EXPECT_NEAR(longer->energy.value(), 40 * 13.5, 1);
  EXPECT_GE(longer->band_sampling.value(), 40 * 4 - 1e-6);
}

}  // namespace
}  // namespace rubato::conduct
