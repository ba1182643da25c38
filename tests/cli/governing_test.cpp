#include "cli/governing.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace rubato::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// 2026-11-22 12:00:00 UTC.
constexpr std::time_t kNoon = 1'795'348'800;

class GoverningTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

Result<std::optional<Governing>> parse(const GoverningText& text, bool setting_given = false,
                                       const std::map<std::string, std::string>& environment = {}) {
  return parse_governing(text, setting_given, kNoon, environment);
}

TEST_F(GoverningTest, WithoutASettingRubatoChoosesForTheLeastEnergyWithinFivePercent) {
  const auto out = parse({}).value();
  ASSERT_TRUE(out);
  EXPECT_EQ(out->strategy, "rubato");
  EXPECT_EQ(out->goal.objective, Objective::energy);
  EXPECT_EQ(out->goal.max_slowdown, 0.05);
  EXPECT_TRUE(out->knobs.empty());
  EXPECT_FALSE(out->time_left);
  EXPECT_TRUE(out->memory);
  EXPECT_EQ(describe(out->goal), "the least energy, at most 5 % slower");
}

TEST_F(GoverningTest, ASettingOfOnesOwnIsHeldAndNothingChosen) {
  EXPECT_FALSE(parse({}, true).value());
  EXPECT_FALSE(parse({.strategy = "fixed"}, true).value());
  EXPECT_FALSE(parse({.strategy = "measure-only"}).value());
}

TEST_F(GoverningTest, WhatContradictsItselfIsRefused) {
  const auto both = parse({.strategy = "bisection"}, true);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(parse({.strategy = "fixed"}).error().what, HasSubstr("no setting was given"));
  EXPECT_THAT(parse({.strategy = "magic"}).error().what, HasSubstr("bisection"));
  EXPECT_THAT(parse({.strategy = "magic"}).error().hint, HasSubstr("strategies.md"));
  EXPECT_FALSE(parse({.objective = "joy"}));
  EXPECT_FALSE(parse({.knobs = {"fan"}}));
  EXPECT_FALSE(parse({.knobs = {"application-clocks"}}));
  EXPECT_FALSE(parse({.max_slowdown = "much"}));
}

TEST_F(GoverningTest, APriceOfAnHourIsWhatItsSecondsCostInJoules) {
  // 2.40 an hour at 0.30 a kilowatt-hour buys 8 kWh in an hour: 8 kW.
  const auto out =
      parse({.objective = "cost", .second = {.per_kwh = "0.30EUR", .per_hour = "2.40 EUR"}}).value();
  ASSERT_TRUE(out->goal.second);
  EXPECT_NEAR(out->goal.second->value(), 8000, 1e-9);
  EXPECT_EQ(describe(out->goal), "the least cost, at most 5 % slower, a second worth 8000 J");
  EXPECT_FALSE(parse({.objective = "cost", .second = {.per_kwh = "0.30EUR"}}).value()->goal.second);
  EXPECT_FALSE(parse({.objective = "cost"}).value()->goal.second);
}

TEST_F(GoverningTest, PricesThatDoNotFitTogetherAreRefused) {
  const auto why = [](const std::string& objective, const SecondPriceText& second) {
    const auto out = parse({.objective = objective, .second = second});
    return out ? std::string() : out.error().what;
  };
  EXPECT_THAT(why("energy", {.per_kwh = "0.30EUR"}), HasSubstr("--objective cost alone"));
  EXPECT_THAT(why("cost", {.per_hour = "2.40EUR"}), HasSubstr("what a joule does"));
  EXPECT_THAT(why("cost", {.per_kwh = "0.30EUR", .per_hour = "2.40USD"}),
              HasSubstr("EUR and --price-hour in USD"));
  EXPECT_THAT(why("cost", {.per_kwh = "0EUR", .per_hour = "2.40EUR"}), HasSubstr("none is worth a second"));
  EXPECT_THAT(why("cost", {.per_kwh = "cheap"}), HasSubstr("--price cheap is no price"));
  EXPECT_THAT(why("cost", {.per_kwh = "1EUR", .per_hour = "-1EUR"}),
              HasSubstr("--price-hour -1EUR is no price"));
  EXPECT_THAT(why("edp", {.eta = 0.5}), HasSubstr("--objective edp does too"));
  for (const double eta : {-0.5, 0.0, 1.5, std::nan("")})
    EXPECT_THAT(why("", {.eta = eta}), HasSubstr("no weight"));
}

TEST_F(GoverningTest, ZeussEtaWeighsTimeByTheHighestLimit) {
  EXPECT_EQ(worth_of_second(0.5, 250_W).value(), 250_W);
  EXPECT_NEAR(worth_of_second(0.2, 250_W).value().value(), 1000, 1e-9);
  EXPECT_EQ(worth_of_second(1, std::nullopt).value(), 0_W);
  EXPECT_THAT(worth_of_second(0.5, std::nullopt).error().hint, HasSubstr("--host-watts"));
  EXPECT_EQ(parse({.second = {.eta = 0.5}}).value()->eta, 0.5);
}

TEST_F(GoverningTest, ABudgetOfWattsIsAGoalOfItsOwn) {
  for (const char* typed : {"1200W", "1.2kW", "1200", "1200 watts"}) {
    const auto out = parse({.power_budget = typed});
    ASSERT_TRUE(out && *out) << typed;
    EXPECT_EQ((*out)->goal.power_budget, 1200_W) << typed;
    EXPECT_EQ((*out)->goal.objective, Objective::time);
  }
  EXPECT_THAT(parse({.power_budget = "-5W"}).error().what, HasSubstr("no amount of power"));
  EXPECT_THAT(parse({.max_slowdown = "5%", .power_budget = "1200W"}).error().what,
              HasSubstr("--max-slowdown"));
  EXPECT_THAT(parse({.power_budget = "1200W", .second = {.eta = 0.5}}).error().what, HasSubstr("--eta"));
  EXPECT_THAT(parse({.objective = "time"}).error().hint, HasSubstr("--power-budget"));
}

TEST_F(GoverningTest, EverythingTypedArrives) {
  const auto out = parse({.strategy = "bisection@published",
                          .objective = "edp",
                          .max_slowdown = "1%",
                          .knobs = {"sm-clock", "sm-clock"},
                          .second = {.host_watts = 120},
                          .deadline = "90m",
                          .no_memory = true})
                       .value();
  ASSERT_TRUE(out);
  EXPECT_EQ(out->strategy, "bisection@published");
  EXPECT_THAT(out->knobs, ElementsAre(Knob::sm_clock));
  EXPECT_EQ(out->time_left, Seconds(5400));
  EXPECT_FALSE(out->memory);
  EXPECT_EQ(describe(out->goal), "the least edp, at most 1 % slower, with a host of 120 W");
}

TEST_F(GoverningTest, ABoundOfZeroIsAWish) {
  const auto out = parse({.max_slowdown = "0"}).value();
  ASSERT_TRUE(out);
  EXPECT_EQ(out->goal.max_slowdown, 0);
  EXPECT_EQ(describe(out->goal), "the least energy, no slower");
}

TEST_F(GoverningTest, DeadlinesAreDurationsOrTimesToCome) {
  const auto left = [](const std::string& text) { return parse_deadline(text, kNoon).value().value(); };
  EXPECT_EQ(left("90"), 90);
  EXPECT_EQ(left("90s"), 90);
  EXPECT_EQ(left("2h30m"), 9000);
  EXPECT_EQ(left("1.5h"), 5400);
  EXPECT_EQ(left("12:30"), 1800);
  EXPECT_EQ(left("11:30"), 84'600) << "tomorrow";
  EXPECT_EQ(left("2026-11-22T12:00:30"), 30);
  for (const std::string bad : {"", "soon", "0", "-5", "5x", "25:00", "12:61", "2026-11-22T11:00", "1h2",
                                "nan", "inf", "2026-13-01T10:00"})
    EXPECT_FALSE(parse_deadline(bad, kNoon)) << bad;
}

TEST_F(GoverningTest, TheSchedulersEndCountsUnlessAnotherIsNamed) {
  const std::map<std::string, std::string> slurm{{"SLURM_JOB_END_TIME", std::to_string(kNoon + 600)}};
  EXPECT_EQ(parse({}, false, slurm).value()->time_left, Seconds(600));
  EXPECT_EQ(parse({.deadline = "60"}, false, slurm).value()->time_left, Seconds(60));
  for (const std::string odd : {"", "yesterday", "0"})
    EXPECT_FALSE(parse({}, false, {{"SLURM_JOB_END_TIME", odd}}).value()->time_left) << odd;
}

}  // namespace
}  // namespace rubato::cli
