// What a run tried before it settled, as text and as JSON.
#pragma once

#include <optional>
#include <string>

#include "analyse/summary.h"
#include "cli/report/page.h"
#include "core/kind.h"
#include "record/reader.h"
#include "report/value.h"

namespace rubato::cli {

/// " (20.8 to 22.0 %)"; empty where there is no interval.
[[nodiscard]] std::string interval_text(const analyse::Estimate& estimate);

/// "4 settings were tried in 95 s, 3.1 % of the run, before one was held."
[[nodiscard]] std::string search_sentence(const analyse::Search& search,
                                          const std::optional<Seconds>& duration);
/// One row per setting, against the found one.
void tried_table(Page& page, const analyse::Search& search, Kind kind);

/// {"settings_tried", "began_s", "settled_s", "searching_s", "tried": […], "expected": {…}}.
[[nodiscard]] report::Value search_json(const analyse::Summary& summary, const record::RunRecord& run);
/// {"strategy", "objective", "max_slowdown", "host_w", "second_w", "idle_w"}.
[[nodiscard]] report::Value goal_json(const record::RunRecord& run);
/// {"at_s", "settings": [{"setting", "time", "energy", "holds", "measured", "on_curve"}]}.
[[nodiscard]] report::Value expectation_json(const record::RunRecord& run, std::size_t which);

/// {"fraction", "low_90", "high_90"}, with "why_no_interval" where there is none.
[[nodiscard]] report::Value estimate_json(const analyse::Estimate& estimate);

}  // namespace rubato::cli
