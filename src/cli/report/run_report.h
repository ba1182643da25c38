// The report of one run and the list of runs.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "analyse/footprint.h"
#include "analyse/forecast.h"
#include "analyse/summary.h"
#include "record/reader.h"
#include "report/render.h"
#include "report/value.h"

namespace rubato::cli {

/// Schema rubato.run/1 (docs/formats.md). `running`: its rubato is still at work. `factors`: for money and
/// CO2.
[[nodiscard]] report::Value run_report_json(const record::RunRecord& run, const analyse::Summary& summary,
                                            bool running = false, const analyse::Factors& factors = {});
/// `brief`: what a newcomer reads when the run is over; `full` has besides how the iteration was found.
enum class Detail { brief, full };
[[nodiscard]] std::string run_report_text(const record::RunRecord& run, const analyse::Summary& summary,
                                          const report::TextOptions& options = {}, bool running = false,
                                          const analyse::Factors& factors = {}, Detail detail = Detail::full);

/// A few sentences, without a line break: also for the terminal while the run goes on.
[[nodiscard]] std::string forecast_text(const analyse::Forecast& forecast,
                                        const analyse::Factors& factors = {});

/// Schema rubato.runs/1. `running`: the records somebody still writes.
[[nodiscard]] report::Value runs_json(const std::vector<record::RunSummary>& runs,
                                      const std::set<std::filesystem::path>& running = {});
[[nodiscard]] std::string runs_text(const std::vector<record::RunSummary>& runs,
                                    const report::TextOptions& options = {},
                                    const std::set<std::filesystem::path>& running = {});

/// {"power_limit_w": …, "sm_clock_mhz": {"min","max"}, "memory_clock_mhz": …, "application_clocks_mhz":
/// {"memory","sm"}}
[[nodiscard]] report::Value setting_json(const Setting& setting);
/// {"code": 3}, {"signal": 9}, or missing.
[[nodiscard]] report::Value exit_status_json(const std::optional<int>& code,
                                             const std::optional<int>& signal);

}  // namespace rubato::cli
