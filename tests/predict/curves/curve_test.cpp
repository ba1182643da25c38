#include "predict/curve.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "core/sweep_table_csv.h"

namespace rubato::predict {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

constexpr Knob kLimit[] = {Knob::power_limit};
constexpr Knob kClock[] = {Knob::sm_clock};
constexpr std::string_view kHeader =
    "gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j";

Result<std::vector<Curve>> curves(std::string_view rows, std::span<const Knob> knobs = kLimit,
                                  std::string_view more_columns = "") {
  const auto table = parse_sweep_table(cat("# made by hand\n", kHeader, more_columns, "\n", rows), "t.csv");
  if (!table) return fail(table.error());
  return curves_of(*table, knobs);
}
std::string refusal(std::string_view rows, std::span<const Knob> knobs = kLimit,
                    std::string_view more_columns = "") {
  const auto made = curves(rows, knobs, more_columns);
  return made ? "nothing was wrong" : made.error().what;
}

TEST(CurvesOf, AWorkloadIsItsSettingsAndWhatIsKnownAtItsDefault) {
  const auto made =
      curves("V,w,g,100,,,4,100,400,0.25\nV,w,g,200,,,2,200,400,0.5\n", kLimit, ",feature_dram_active");
  ASSERT_TRUE(made) << made.error().what;
  ASSERT_THAT(*made, SizeIs(1));
  const Curve& curve = made->front();
  EXPECT_EQ(curve.group, "g");
  EXPECT_TRUE(curve.default_assumed);
  EXPECT_THAT(curve.rows, SizeIs(2));
  EXPECT_EQ(curve.known.gpu, "V");
  EXPECT_EQ(curve.known.at_default.time, 2_s);
  EXPECT_EQ(curve.known.at_default.power(), 200_W);
  EXPECT_EQ(curve.known.features.at("dram_active"), 0.5);
  EXPECT_THAT(curve.known.probes, SizeIs(0));
}

TEST(CurvesOf, HighestIsTheGpusAndNotTheWorkloads) {
  const auto made = curves(
      "V,a,g,100,,,1,1,1\nV,a,g,200,,,1,1,1\nV,b,g,100,,,1,1,1\nV,b,g,250,,,1,1,1\n"
      "P,c,g,100,,,1,1,1\nP,c,g,300,,,1,1,1\n");
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)[0].known.highest.power_limit, 250_W);
  EXPECT_EQ((*made)[2].known.highest.power_limit, 300_W);
}

TEST(CurvesOf, AKnobThatWasNotNamedStandsAbsent) {
  const auto made = curves("V,w,g,,900,877,1,1,1\nV,w,g,,1380,877,1,1,1\n", kClock);
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(made->front().rows[0].at, (KnobPoint{.sm_clock = 900_MHz}));
  EXPECT_FALSE(made->front().known.highest.memory_clock);
}

TEST(CurvesOf, AnUnlockedDefaultCountsAsTheHighestOfWhatWasNotNamed) {
  const auto made = curves("V,w,g,,,,1,1,1\nV,w,g,,900,877,1,1,1\n", kClock);
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(made->front().known.at_default.at, KnobPoint{});
}

TEST(CurvesOf, EqualCurvesCountOnce) {
  const auto made =
      curves("V,a,g,100,,,4,100,400\nV,a,g,200,,,2,200,400\nV,b,h,100,,,4,100,400\nV,b,h,200,,,2,200,400\n");
  ASSERT_TRUE(made);
  EXPECT_THAT(*made, SizeIs(1));
}

TEST(CurvesOf, RepeatsInATableThatWasNotReadBecomeTheirMean) {
  SweepTable table;
  for (const double time : {1.0, 3.0, 5.0})
    table.rows.push_back({.gpu = "V",
                          .workload = "w",
                          .group = "g",
                          .power_limit = 100_W,
                          .time = Seconds(time),
                          .power = 100_W,
                          .energy = Joules(100 * time)});
  table.rows.push_back({.gpu = "V",
                        .workload = "w",
                        .group = "g",
                        .power_limit = 200_W,
                        .time = 1_s,
                        .power = 100_W,
                        .energy = 100_J});
  const auto made = curves_of(table, kLimit);
  ASSERT_TRUE(made) << made.error().what;
  ASSERT_THAT(made->front().rows, SizeIs(2));
  EXPECT_EQ(made->front().rows[0].time, 3_s);
  EXPECT_EQ(made->front().rows[0].energy, 300_J);
  EXPECT_EQ(made->front().rows[0].repeats, 3U);
}

TEST(CurvesOf, AKnobThatNothingVariesIsRefused) {
  EXPECT_THAT(refusal("V,w,g,100,900,,1,1,1\nV,w,g,200,900,,1,1,1\n", kClock),
              AllOf(HasSubstr("t.csv"), HasSubstr("sm-clock"), HasSubstr("900 MHz")));
}

TEST(CurvesOf, OneSettingIsNoCurve) {
  EXPECT_THAT(refusal("V,a,g,100,,,1,1,1\nV,a,g,200,,,1,1,1\nV,b,g,100,,,1,1,1\n"),
              AllOf(HasSubstr("t.csv, line 5"), HasSubstr("'b'"), HasSubstr("one setting")));
}

TEST(CurvesOf, AnotherKnobThatVariesIsRefusedAtItsLine) {
  EXPECT_THAT(refusal("V,w,g,200,900,,1,1,1\nV,w,g,100,900,,1,1,1\nV,w,g,100,800,,1,1,1\n"),
              AllOf(HasSubstr("t.csv, line 5"), HasSubstr("800 MHz")));
}

TEST(CurvesOf, AWorkloadWithoutADefaultIsNamedWithItsLine) {
  EXPECT_THAT(refusal("V,w,g,100,1000,,1,1,1\nV,w,g,200,900,,1,1,1\n"),
              AllOf(HasSubstr("t.csv, line 3"), HasSubstr("no default row")));
}

TEST(CurvesOf, MixedUnitsAreRefusedAtTheirLine) {
  const std::string_view good = "V,w,g,200,,,2,200,400\n";
  EXPECT_THAT(refusal(cat(good, "V,w,g,100,,,4,100,0.4\n")),  // kJ
              AllOf(HasSubstr("t.csv, line 4"), HasSubstr("units")));
  EXPECT_THAT(refusal(cat(good, "V,w,g,100,,,4000,100,400000\n")),  // ms
              AllOf(HasSubstr("time_s"), HasSubstr("units"), HasSubstr("line 3")));
  EXPECT_THAT(refusal(cat(good, "V,w,g,100000,,,4,100,400\n")),  // mW
              AllOf(HasSubstr("power_limit_w"), HasSubstr("line 4")));
  // Whole workloads, whole tables.
  EXPECT_THAT(
      refusal("V,a,g,,1000,,2,200,400\nV,a,g,,900,,4,100,400\nV,b,h,,1,,2,200,400\nV,b,h,,0.9,,4,100,400\n",
              kClock),
      AllOf(HasSubstr("sm_clock_mhz of 'V'"), HasSubstr("t.csv, line 6"), HasSubstr("(line 3)")));
  EXPECT_THAT(refusal("V,w,g,200000,,,2,200,400\nV,w,g,150000,,,4,100,400\n"),
              AllOf(HasSubstr("t.csv, line 3"), HasSubstr("200 W were drawn")));
}

TEST(CurvesOf, AFeatureThatSomeDefaultsLackIsRefusedAtTheLineThatLacksIt) {
  const std::string_view rows =
      "V,a,g,100,,,1,1,1,\nV,a,g,200,,,1,1,1,0.5\nV,b,g,100,,,1,1,2,0.5\nV,b,g,200,,,1,1,1,\n";
  EXPECT_THAT(refusal(rows, kLimit, ",feature_x"), AllOf(HasSubstr("t.csv, line 6"), HasSubstr("feature_x"),
                                                         HasSubstr("'b'"), HasSubstr("line 4")));
}

TEST(CurvesOf, WhatTheReaderRefusesNeverGetsHere) {
  EXPECT_THAT(refusal("V,w,g,100,,,nan,1,1\n"), HasSubstr("t.csv, line 3: column time_s"));
  EXPECT_THAT(refusal("V,w,g,100,,,-1,1,1\n"), HasSubstr("t.csv, line 3: column time_s"));
  EXPECT_THAT(refusal("V,w,g,100,,,1,1,1\nV,w,g,100,,,1,1,1\n"), HasSubstr("line 3 already"));
}

TEST(CurvesOf, AWorkloadInTwoGroupsCouldNotBeLeftOut) {
  EXPECT_THAT(refusal("V,w,g,100,,,1,1,1\nV,w,h,200,,,1,1,1\n"), AllOf(HasSubstr("'g'"), HasSubstr("'h'")));
}

TEST(CurvesOf, NoRowsAndNoKnobsAreRefused) {
  EXPECT_THAT(refusal(""), HasSubstr("no rows"));
  EXPECT_THAT(refusal("V,w,g,100,,,1,1,1\n", {}), HasSubstr("no knob"));
  constexpr Knob application[] = {Knob::application_clocks};
  EXPECT_THAT(refusal("V,w,g,100,,,1,1,1\n", application), HasSubstr("application clocks"));
}

}  // namespace
}  // namespace rubato::predict
