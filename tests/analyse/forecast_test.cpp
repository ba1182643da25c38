#include "analyse/forecast.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/random.h"
#include "base/text.h"
#include "made_training.h"

namespace rubato::analyse {
namespace {

using namespace testing_data;
using testing::HasSubstr;

EpochCost epoch(double seconds, double late) {
  return {seconds, 200 * seconds, late, 200 * late};
}

TEST(Forecast, AddsTheEpochsToComeToWhatWasUsed) {
  const auto f = forecast_of({epoch(10, 1), epoch(10, 1)}, 5, 25, 5000);
  ASSERT_TRUE(f);
  EXPECT_NEAR(f->total_seconds->value, 55, 1e-9);
  EXPECT_NEAR(f->total_joules->value, 11'000, 1e-9);
  ASSERT_TRUE(f->total_joules->interval);
  EXPECT_FALSE(f->first_left_out);
}

EpochCost after(double seconds_before, EpochCost epoch) {
  epoch.seconds_before = seconds_before;
  epoch.joules_before = 50 * seconds_before;
  return epoch;
}

TEST(Forecast, CountsWhatLiesBetweenTheEpochsToCome) {
  // Three epochs of 10 s, 2 s of evaluation before the second and 2.2 s before the third: 34.2 s so far.
  const auto f = forecast_of({epoch(10, 1), after(2, epoch(10, 1)), after(2.2, epoch(10, 1))}, 8, 34.2, 6210);
  ASSERT_TRUE(f);
  EXPECT_NEAR(f->epoch_seconds.value, 10, 1e-9) << "an epoch alone";
  EXPECT_NEAR(f->total_seconds->value, 34.2 + 5 * 12.1, 1e-9);
  EXPECT_NEAR(f->total_joules->value, 6210 + 5 * (2000 + 50 * 2.1), 1e-9);
  ASSERT_TRUE(f->total_seconds->interval);
  EXPECT_GT(f->total_seconds->interval->high, 34.2 + 5 * 12.2) << "the scatter between them is in it";
}

TEST(Forecast, IsNotSureOfWhatLiesBetweenAfterSeeingItOnce) {
  const auto f = forecast_of({epoch(10, 1), after(2, epoch(10, 1))}, 8, 22, 4100);
  ASSERT_TRUE(f);
  EXPECT_NEAR(f->total_seconds->value, 22 + 6 * 12, 1e-9);
  EXPECT_FALSE(f->total_seconds->interval);
  EXPECT_THAT(f->total_seconds->why_no_interval, HasSubstr("between epochs was seen once"));
  EXPECT_TRUE(f->epoch_seconds.interval);
  EXPECT_TRUE(
      forecast_of({epoch(10, 1), after(0.01, epoch(10, 1))}, 8, 20.01, 4001)->total_seconds->interval);
}

TEST(Forecast, LeavesAFirstEpochThatWasWarmingUpOut) {
  const auto f = forecast_of({epoch(14, 1.0), epoch(10, 1.002)}, 10, 24, 4800);
  ASSERT_TRUE(f);
  EXPECT_TRUE(f->first_left_out);
  EXPECT_NEAR(f->epoch_seconds.value, 10, 1e-9);
  // Two later halves 0.14 % apart, one degree of freedom: narrow enough to be of use.
  ASSERT_TRUE(f->epoch_seconds.interval);
  EXPECT_NEAR(f->epoch_seconds.interval->high - 10, 0.25, 0.02);
}

TEST(Forecast, WithoutLaterHalvesKeepsTheFirstEpochAndItsDoubt) {
  const auto f = forecast_of({{14, 2800, {}, {}}, {10, 2000, {}, {}}}, 10, 24, 4800);
  ASSERT_TRUE(f);
  EXPECT_FALSE(f->first_left_out);
  EXPECT_GT(f->epoch_seconds.interval->high, 40);
}

TEST(Forecast, OfAnUnknownPlanLeavesTheTotalOpen) {
  const auto f = forecast_of({epoch(10, 1), epoch(10, 1)}, std::nullopt, 20, 4000);
  ASSERT_TRUE(f);
  EXPECT_FALSE(f->total_joules);
  EXPECT_NEAR(f->epoch_joules.value, 2000, 1e-9);
}

TEST(Forecast, NeedsTwoEpochs) {
  EXPECT_THAT(forecast_of({epoch(10, 1)}, 5, 10, 2000).error().what, HasSubstr("needs two"));
}

TEST(Forecast, OfARunThatGoesOnComesFromItsRecord) {
  MadeTraining made = three_epochs();
  const auto f = forecast_of(made.record(), Factors{{}, Price{0.36, "EUR"}});
  ASSERT_TRUE(f) << f.error().what;
  EXPECT_EQ(f->epochs_done, 3);
  EXPECT_EQ(f->epochs_planned, 10);
  EXPECT_NEAR(f->epoch_joules.value, 7000, 1);
  // 102 s and 21 620 J to the end of the third epoch, seven more of 30 s and 7000 J, 1 s and 60 J before
  // each.
  EXPECT_NEAR(f->total_seconds->value, 102 + 217, 0.1);
  EXPECT_NEAR(f->total_joules->value, 500 + 21'000 + 120 + 7 * 7060, 20);
  EXPECT_NEAR(f->total_cost->value, f->total_joules->value / 3.6e6 * 0.36, 1e-9);
}

// Epochs of a job whose GPU warms up (its power comes within 3 % of the end, over three epochs), whose speed
// wanders by 0.2 % from epoch to epoch and scatters by 1 %, and whose first epoch compiles for up to 40 %.
struct World {
  Random random;
  double warm_up;
  double wander = 0;
  int count = 0;

  explicit World(std::uint64_t seed) : random(seed), warm_up(0.4 * random.uniform()) {}

  EpochCost next() {
    const double heat = 1 - 0.03 * std::exp(-count / 3.0);
    wander += 0.002 * random.normal();
    const double late = (1 + wander) * (1 + 0.01 * random.normal());
    const double seconds = 60 * (0.5 * late + 0.5 * (1 + wander) * (1 + 0.01 * random.normal())) +
                           (count == 0 ? 60 * warm_up : 0);
    ++count;
    return {seconds, 250 * heat * seconds, 0.1 * late, 25 * heat * late};
  }
};

TEST(Forecast, IntervalsHoldTheTruthAsOftenAsTheySay) {
  constexpr int kSeeds = 500;
  for (const int done : {2, 3, 4, 6, 10}) {
    int seconds_held = 0;
    int joules_held = 0;
    double width = 0;
    for (int seed = 0; seed < kSeeds; ++seed) {
      World world(static_cast<std::uint64_t>(1000 * done + seed));
      std::vector<EpochCost> seen;
      double seconds = 0;
      double joules = 0;
      Result<Forecast> f = fail(ErrorCode::not_found, "");
      for (int e = 0; e < 30; ++e) {
        if (e == done) f = forecast_of(seen, 30, seconds, joules);
        seen.push_back(world.next());
        seconds += seen.back().seconds;
        joules += seen.back().joules;
      }
      ASSERT_TRUE(f && f->total_seconds->interval && f->total_joules->interval);
      const auto holds = [](const Interval& i, double truth) { return i.low <= truth && truth <= i.high; };
      width +=
          (f->total_joules->interval->high - f->total_joules->interval->low) / 2 / f->total_joules->value;
      seconds_held += holds(*f->total_seconds->interval, seconds) ? 1 : 0;
      joules_held += holds(*f->total_joules->interval, joules) ? 1 : 0;
    }
    EXPECT_GE(seconds_held, kSeeds * 9 / 10) << "after " << done << " epochs";
    EXPECT_GE(joules_held, kSeeds * 9 / 10) << "after " << done << " epochs";
    // Wide after two epochs, when nearly nothing is known, and of use after four.
    EXPECT_LT(width / kSeeds, done == 2 ? 0.3 : done == 3 ? 0.2 : 0.06) << "after " << done << " epochs";
    RecordProperty("after_" + std::to_string(done), cat(seconds_held, " and ", joules_held, " of ", kSeeds,
                                                        ", ± ", number(100 * width / kSeeds, 1), " %"));
  }
}

TEST(Footprint, IsComputedAndSaysFromWhat) {
  const Footprint f =
      footprint_of(Joules(7.2e6), {Co2Factor{380, "the grid's operator", "2025", "SE"}, Price{0.3, "EUR"}});
  EXPECT_NEAR(f.kwh, 2, 1e-12);
  EXPECT_NEAR(*f.co2_grams, 760, 1e-9);
  EXPECT_NEAR(*f.cost, 0.6, 1e-12);
  EXPECT_EQ(f.basis, "computed from 380 g/kWh (the grid's operator, 2025, SE) and 0.3 EUR/kWh, not measured");
}

TEST(Footprint, WithoutFactorsHasNone) {
  const Footprint f = footprint_of(1_J, {});
  EXPECT_FALSE(f.co2_grams);
  EXPECT_FALSE(f.cost);
  EXPECT_TRUE(f.basis.empty());
}

}  // namespace
}  // namespace rubato::analyse
