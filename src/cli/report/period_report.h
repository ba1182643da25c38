// What a period detector made of one series of telemetry, as a page and as rubato.period/1.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/report/page.h"
#include "progress/telemetry.h"
#include "report/value.h"

namespace rubato::cli {

struct PeriodFinding {
  std::string source;    // "trace.csv", "GPU 0, V100 (20261121-…)"
  std::string detector;  // by name
  std::vector<std::string> columns;
  std::vector<std::string> ignored_columns;
  std::optional<Seconds> length;  // absent: fewer than two points
  progress::PeriodSummary summary;
  std::vector<Iteration> iterations;  // followed one by one, where the detector does
  std::optional<ProgressRate> rate;   // where no period was found
  std::size_t dropped_cells = 0;      // while reading the file
  std::size_t dropped_rows = 0;
  std::vector<std::string> first_drops;
  TimePoint begin;
};

/// Runs `detector` over `points` and says what came of it; `name`s and counts of reading are the caller's.
[[nodiscard]] PeriodFinding find_period(progress::PeriodDetector& detector,
                                        const std::vector<progress::TelemetryPoint>& points);

/// The members of rubato.period/1 that stand for one series.
void set_period(report::Object& out, const PeriodFinding& finding);
void say_period(Page& page, const PeriodFinding& finding);

}  // namespace rubato::cli
