#include "cli/report/period_report.h"

#include <gmock/gmock.h>

#include "cli/report/telemetry_points.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

using progress::TelemetryPoint;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TimePoint at(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

/// Says what it was told to say, and follows what it was given.
class Told final : public progress::PeriodDetector {
 public:
  Told(progress::PeriodSummary summary, std::vector<Iteration> iterations)
      : summary_(std::move(summary)), iterations_(std::move(iterations)) {}
  [[nodiscard]] std::string_view name() const override { return "told"; }
  void add(const TelemetryPoint&) override { ++summary_.points; }
  [[nodiscard]] std::optional<IterationEstimate> estimate() const override { return summary_.verdict; }
  [[nodiscard]] std::vector<Iteration> take_iterations() override { return std::exchange(iterations_, {}); }
  [[nodiscard]] progress::PeriodSummary summary() const override { return summary_; }

 private:
  progress::PeriodSummary summary_;
  std::vector<Iteration> iterations_;
};

PeriodFinding finding(progress::PeriodSummary summary, std::vector<Iteration> iterations = {}) {
  Told detector(std::move(summary), std::move(iterations));
  return find_period(detector, {{.at = at(10), .power = 100_W}, {.at = at(20), .power = 100_W}});
}
std::string text(const PeriodFinding& found) {
  Page page(report::TextOptions{});
  say_period(page, found);
  return page.take();
}
std::string json(const PeriodFinding& found) {
  report::Object object;
  set_period(object, found);
  return report::render_json_line(object);
}

progress::PeriodSummary periodic(PeriodRelation relation) {
  progress::PeriodSummary summary;
  summary.verdict = {
      .periodic = true, .period = 2_s, .relation = relation, .confidence = 0.9, .why = "it repeats"};
  summary.first = summary.last = 2_s;
  summary.decided_after = 8_s;
  return summary;
}

TEST(PeriodReport, SaysWhatThePeriodIsToTheIteration) {
  EXPECT_THAT(text(finding(periodic(PeriodRelation::exact))), HasSubstr("An iteration takes 2.00 s"));
  EXPECT_THAT(text(finding(periodic(PeriodRelation::multiple))), HasSubstr("a whole number of iterations"));
  EXPECT_THAT(text(finding(periodic(PeriodRelation::beat))), HasSubstr("the beat between"));
  EXPECT_THAT(json(finding(periodic(PeriodRelation::beat))), HasSubstr(R"("relation":"beat")"));
}

TEST(PeriodReport, WhatLiesBetweenFollowedIterationsIsAPause) {
  const PeriodFinding found =
      finding(periodic(PeriodRelation::exact), {{.index = 0, .begin = at(10), .end = at(12)},
                                                {.index = 1, .begin = at(12), .end = at(14)},
                                                {.index = 2, .begin = at(17), .end = at(19)}});
  EXPECT_THAT(text(found), HasSubstr("3 iterations, with 1 pause of 3.00 s between them"));
  EXPECT_THAT(json(found), HasSubstr(R"("iterations":3)"));
  EXPECT_THAT(json(found), HasSubstr(R"({"begin_s":4.0,"end_s":7.0})"));
}

TEST(PeriodReport, AnInaccurateEndIsNoPause) {
  const PeriodFinding found =
      finding(periodic(PeriodRelation::exact),
              {{.index = 0, .begin = at(10), .end = at(12)}, {.index = 1, .begin = at(12.4), .end = at(14)}});
  EXPECT_THAT(text(found), HasSubstr("2 iterations\n"));
}

TEST(PeriodReport, UndecidedIsNeitherPeriodicNorNotAndSaysWhy) {
  progress::PeriodSummary summary;
  summary.notes = {"only one second was seen"};
  const PeriodFinding found = finding(summary);
  EXPECT_THAT(text(found), HasSubstr("Undecided: only one second was seen."));
  EXPECT_THAT(json(found), HasSubstr(R"("periodic":null,"why":"only one second was seen","period_s":null)"));
}

TEST(PeriodReport, NoPeriodHasNone) {
  progress::PeriodSummary summary;
  summary.verdict = {.periodic = false, .confidence = 0.98, .why = "nothing repeats"};
  EXPECT_THAT(text(finding(summary)), HasSubstr("Nothing here repeats as iterations do (confidence 0.98)"));
  EXPECT_THAT(json(finding(summary)), HasSubstr(R"("periodic":false)"));
  EXPECT_THAT(json(finding(summary)), HasSubstr(R"("relation":null)"));
}

TEST(PeriodReport, WhatWasDroppedIsShown) {
  PeriodFinding found = finding(periodic(PeriodRelation::exact));
  EXPECT_THAT(text(found), Not(HasSubstr("dropped")));
  found.summary.dropped = 2;
  found.dropped_cells = 1;
  found.first_drops = {"line 7: power_w is 'x'"};
  EXPECT_THAT(text(found), HasSubstr("2 points out of order or range, 1 value"));
  EXPECT_THAT(text(found), HasSubstr("line 7: power_w is 'x'"));
}

TEST(PeriodReport, ReadingsOfOneGpuAreOneSeriesInOrderOfTime) {
  record::DeviceRecord device;
  device.fast = {{.at = at(1), .power = 100_W}, {.at = at(2), .power = 110_W}};
  device.slow = {{.at = at(0), .sm_utilisation = 0.5}, {.at = at(2), .sm_clock = 1000_MHz}, {.at = at(3)}};
  const std::vector<TelemetryPoint> points = points_of(device);
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[0].sm_utilisation, 0.5);
  EXPECT_EQ(points[1].power, 100_W);
  EXPECT_EQ(points[2].power, 110_W);
  EXPECT_EQ(points[2].sm_clock, 1000_MHz);
  EXPECT_EQ(points[3].at, at(3));
  EXPECT_THAT(columns_of(points), ElementsAre("power_w", "sm_util_pct", "sm_clock_mhz"));
}

}  // namespace
}  // namespace rubato::cli
