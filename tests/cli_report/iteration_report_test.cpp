// How the report tells what was known of the iteration.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "analyse/made_iteration.h"
#include "cli/report/counter_values.h"
#include "cli/report/iteration_text.h"
#include "cli/report/run_report.h"
#include "golden.h"

namespace rubato::cli {
namespace {

using namespace analyse::testing_data;
using testing::HasSubstr;
using testing::Not;
using testing_data::expect_golden;

std::string text(const record::RunRecord& run, Detail detail) {
  return run_report_text(run, analyse::summarise(run), {}, false, {}, detail);
}
nlohmann::json json(const record::RunRecord& run) {
  return nlohmann::json::parse(report::render_json(run_report_json(run, analyse::summarise(run))));
}

// The sections this is about.
std::string sections(const record::RunRecord& run, Detail detail) {
  Page page{TextOptions{}};
  iteration_view_text(page, run, detail == Detail::brief);
  if (detail == Detail::full) {
    shifts_text(page, run);
    counters_text(page, run);
  }
  return page.take();
}

TEST(IterationReport, AfterARunIsALineOrTwo) {
  EXPECT_EQ(sections(found_run(), Detail::brief),
            "\nIteration\n"
            "  0.400 s ± 0.30 %, from kernels (99 % sure); telemetry: it finds the same\n"
            "  period.\n"
            "  The job changed once: rubato show 20261121-081500-1a2b\n");
  EXPECT_EQ(sections(aperiodic_run(), Detail::brief),
            "\nIteration\n"
            "  none was found in telemetry (97 % sure): the power never repeats.\n"
            "  Progress was counted instead: 2.50 k kernels a second ± 10.0 % (uncertain,\n"
            "  60 % sure).\n");
}

TEST(IterationReport, InFullReadsLikeThis) {
  expect_golden(sections(found_run(), Detail::full) + sections(aperiodic_run(), Detail::full),
                "iteration.txt");
  expect_golden(
      json(found_run())["iteration"].dump(2) + "\n" + json(aperiodic_run())["iteration"].dump(2) + "\n",
      "iteration.json");
}

TEST(IterationReport, IsPartOfTheRunsReport) {
  EXPECT_THAT(text(found_run(), Detail::brief), HasSubstr(sections(found_run(), Detail::brief)));
  EXPECT_THAT(text(found_run(), Detail::brief), Not(HasSubstr("Counters")));
  EXPECT_THAT(text(found_run(), Detail::full), HasSubstr(sections(found_run(), Detail::full)));
}

TEST(IterationReport, OfARecordThatTellsNothingSaysNothing) {
  const record::RunRecord run = MadeRun().ended();
  EXPECT_EQ(sections(run, Detail::full), "");
  EXPECT_TRUE(json(run)["iteration"].is_null());
}

TEST(IterationReport, SaysHowSureInWordsAndNeverRoundsUp) {
  EXPECT_EQ(sureness_text(0.9999), "99 % sure");
  EXPECT_EQ(sureness_text(0.95), "95 % sure");
  EXPECT_EQ(sureness_text(0.9), "likely, 90 % sure");
  EXPECT_EQ(sureness_text(0.5), "uncertain, 50 % sure");
  EXPECT_EQ(sureness_text(0.3), "a guess, 30 % sure");
  EXPECT_EQ(sureness_text(0), "a guess, 0 % sure");
}

TEST(IterationReport, SaysWhenAPeriodIsNotTheIteration) {
  IterationEstimate e = found_run().statements[0].estimate;
  e.relation = PeriodRelation::multiple;
  EXPECT_THAT(iteration_text(e), HasSubstr("a multiple of the iteration"));
  e.relation = PeriodRelation::beat;
  EXPECT_THAT(iteration_text(e), HasSubstr("a beat of the iteration and the sensor"));
}

TEST(IterationReport, OfManyCounterWindowsShowsTheFirstAndTheLast) {
  record::RunRecord run = found_run();
  for (int i = 1; i <= 6; ++i) {
    run.features.push_back(run.features[1]);
    run.features.back().features.begin = kBegin + Seconds(200.0 * i);
    run.features.back().features.end = kBegin + Seconds(200.0 * i + 4);
  }
  const std::string shown = sections(run, Detail::full);
  EXPECT_THAT(shown, HasSubstr("4 of 8 windows"));
  EXPECT_THAT(shown, HasSubstr("33.0 s  13 min 20 s  16 min 40 s  20 min 00 s\n"));
  EXPECT_EQ(json(run)["iteration"]["counters"].size(), 8U);
}

TEST(IterationReport, NamesTheGpuThatChangedWhereThereAreSeveral) {
  record::RunRecord run = MadeRun(2).ended();
  run.shifts = {{run.devices[1].info.identity.id,
                 {kBegin + 2_s, kBegin + 5_s, "power", 200, 150, "W", "it draws less"}}};
  EXPECT_THAT(sections(run, Detail::full),
              HasSubstr("2.0 s  GPU 1: power 200.0 W → 150.0 W, noticed 3.00 s "));
}

TEST(IterationReport, WritesCountersWithTheUnitTheyHave) {
  EXPECT_EQ(value_text(Feature::tensor_active, 0.1234), "12.3 %");
  EXPECT_EQ(value_text(Feature::nvlink_rx_bytes_per_s, 2.5e9), "2.50 GB/s");
  EXPECT_EQ(value_text(Feature::instructions_per_second, 1.5e12), "1.50 T");
  EXPECT_EQ(value_text(Feature::instructions_per_cycle, 2.1), "2.10");
  EXPECT_EQ(value_text(Feature::l2_misses_per_instruction, 0.0123), "0.0123");
  EXPECT_EQ(label_of(Feature::pcie_tx_bytes_per_s), "pcie tx");
  EXPECT_EQ(scaled(999.6, "B/s"), "1000 B/s");
}

}  // namespace
}  // namespace rubato::cli
