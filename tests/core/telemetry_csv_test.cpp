#include "core/telemetry_csv.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/text.h"

namespace rubato {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TelemetryTrace good(std::string_view text) {
  const auto trace = parse_telemetry(text);
  EXPECT_TRUE(trace) << trace.error().what;
  return trace.value_or(TelemetryTrace{});
}
std::string complaint(std::string_view text) {
  const auto trace = parse_telemetry(text, "t.csv");
  EXPECT_FALSE(trace);
  return trace ? "" : trace.error().what;
}

TEST(TelemetryCsv, ReadsColumnsInAnyOrder) {
  const TelemetryTrace trace =
      good("# a comment\nsm_clock_mhz,power_w,time_s,memory_util_pct,sm_util_pct\n1410,250.5,0.5,30,100\n");
  ASSERT_EQ(trace.rows.size(), 1U);
  const TelemetryRow& row = trace.rows[0];
  EXPECT_EQ(row.at.ns, 500'000'000);
  EXPECT_EQ(row.power, Watts(250.5));
  EXPECT_EQ(row.sm_utilisation, 1.0);
  EXPECT_EQ(row.memory_utilisation, 0.3);
  EXPECT_EQ(row.sm_clock, 1410_MHz);
  EXPECT_EQ(trace.dropped_cells + trace.dropped_rows, 0U);
}

TEST(TelemetryCsv, OtherColumnsAreIgnoredAndNamed) {
  const TelemetryTrace trace = good("time_s,power_w,fan\n1,100,33 %\n");
  EXPECT_THAT(trace.columns, ElementsAre("power_w"));
  EXPECT_THAT(trace.ignored, ElementsAre("'fan'"));
  EXPECT_EQ(trace.dropped_cells, 0U);
}

TEST(TelemetryCsv, AnEmptyCellIsMissingAndNoFault) {
  const TelemetryTrace trace = good("time_s,power_w,sm_util_pct\n1,,50\n2, ,\n");
  ASSERT_EQ(trace.rows.size(), 2U);
  EXPECT_EQ(trace.rows[0].power, std::nullopt);
  EXPECT_EQ(trace.rows[0].sm_utilisation, 0.5);
  EXPECT_EQ(trace.dropped_cells, 0U);
}

TEST(TelemetryCsv, AnUnusableCellIsDroppedAndItsRowKept) {
  for (const std::string_view cell : {"nan", "inf", "-1", "abc", "1e300", "0x10", "1 W", "100001"}) {
    const TelemetryTrace trace = good(cat("time_s,power_w,sm_util_pct\n1,100,1\n2,", cell, ",70\n"));
    ASSERT_EQ(trace.rows.size(), 2U) << cell;
    EXPECT_EQ(trace.rows[1].power, std::nullopt) << cell;
    EXPECT_EQ(trace.rows[1].sm_utilisation, 0.7) << cell;
    EXPECT_EQ(trace.dropped_cells, 1U) << cell;
    EXPECT_THAT(trace.first_drops,
                ElementsAre(AllOf(HasSubstr("line 3"), HasSubstr("power_w"), HasSubstr(cell))));
  }
  EXPECT_EQ(good("time_s,sm_util_pct\n1,101\n").dropped_cells, 1U);
}

TEST(TelemetryCsv, ARowWithoutATimeIsDropped) {
  const TelemetryTrace trace = good("time_s,power_w\n,100\nnan,100\n1e12,100\nnow,100\n1,100\n");
  EXPECT_EQ(trace.rows.size(), 1U);
  EXPECT_EQ(trace.dropped_rows, 4U);
  EXPECT_THAT(trace.first_drops.front(), HasSubstr("line 2"));
}

TEST(TelemetryCsv, TimeMayGoBackAndStandStill) {
  EXPECT_EQ(good("time_s,power_w\n2,1\n1,1\n1,1\n-3,1\n").rows.size(), 4U);
}

TEST(TelemetryCsv, ALineThatIsCutOffLosesNothingElse) {
  const TelemetryTrace trace = good("time_s,power_w,sm_util_pct\n1,100,50\n2,10");
  EXPECT_EQ(trace.rows.size(), 1U);
  EXPECT_EQ(trace.dropped_rows, 1U);
  EXPECT_THAT(trace.first_drops, ElementsAre("line 3 is cut off behind 2 of 3 cells"));
  EXPECT_EQ(good("time_s,power_w\n1,100\n2,100").rows.size(), 2U);
}

TEST(TelemetryCsv, ARowOfAnotherLengthIsDropped) {
  const TelemetryTrace trace = good("time_s,power_w\n1,100,7\n2\n3,100\n");
  EXPECT_EQ(trace.rows.size(), 1U);
  EXPECT_EQ(trace.dropped_rows, 2U);
}

TEST(TelemetryCsv, DosLineEndsQuotesAndByteOrderMarksAreRead) {
  const TelemetryTrace trace = good("\xEF\xBB\xBF\"time_s\",\"power_w\"\r\n\"1\",\"100\"\r\n\r\n2,200\r\n");
  ASSERT_EQ(trace.rows.size(), 2U);
  EXPECT_EQ(trace.rows[1].power, 200_W);
}

TEST(TelemetryCsv, AFileThatIsNoTraceIsRefusedByNameAndLine) {
  EXPECT_THAT(complaint(""), testing::AllOf(HasSubstr("no header"), testing::Not(HasSubstr("line 0"))));
  EXPECT_THAT(complaint("# only\n"), HasSubstr("t.csv"));
  EXPECT_THAT(complaint("\n1,2\n"), AllOf(HasSubstr("t.csv, line 2"), HasSubstr("time_s")));
  EXPECT_THAT(complaint("time_s,fan\n"), HasSubstr("nothing was measured"));
  EXPECT_THAT(complaint("time_s,power_w,time_s\n"), HasSubstr("twice"));
  EXPECT_THAT(complaint(std::string_view("SQLite\0\1\2\n", 10)), HasSubstr("line 1"));
}

TEST(TelemetryCsv, OnlyTheFirstDropsAreNamedAndAllAreCounted) {
  std::string text = "time_s,power_w\n";
  for (int i = 0; i < 100; ++i) text += "x,y\n";
  const TelemetryTrace trace = good(text);
  EXPECT_EQ(trace.dropped_rows, 100U);
  EXPECT_LT(trace.first_drops.size(), 10U);
}

TEST(TelemetryCsv, AMillionRowsAreRead) {
  constexpr int kRows = 1'000'000;
  std::string text = "time_s,power_w,sm_util_pct\n";
  for (int i = 0; i < kRows; ++i) text += "1234.567,250.125,97\n";
  EXPECT_EQ(good(text).rows.size(), std::size_t{kRows});
}

TEST(TelemetryCsv, AFolderAndAMissingFileAreNamed) {
  EXPECT_THAT(read_telemetry("/").error().what, HasSubstr("folder"));
  EXPECT_THAT(read_telemetry("/no/such/trace.csv").error().what, HasSubstr("/no/such/trace.csv"));
}

RC_GTEST_PROP(TelemetryCsv, WhateverStandsBehindTheHeaderIsReadOrCounted, ()) {
  const auto lines = *rc::gen::container<std::vector<std::string>>(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789.,-\"#e \r"))));
  std::string text = "time_s,power_w\n";
  for (const std::string& line : lines) text += line + "\n";
  const auto trace = parse_telemetry(text);
  RC_ASSERT(trace.has_value());
  const auto told = std::ranges::count_if(
      lines, [](const std::string& line) { return !trim(line).empty() && !line.starts_with('#'); });
  RC_ASSERT(trace->rows.size() + trace->dropped_rows == static_cast<std::size_t>(told));
}

}  // namespace
}  // namespace rubato
