// What a run's energy belongs to, as members of rubato.run/1 (docs/formats.md).
#pragma once

#include "analyse/footprint.h"
#include "analyse/forecast.h"
#include "analyse/summary.h"
#include "report/value.h"

namespace rubato::cli {

/// Sets sources, epochs, windows, phases, iteration, parts, hooks, problems and marks_ignored.
void set_parts(report::Object& out, const record::RunRecord& run, const analyse::Summary& summary);

/// What iterations took and used, and what was known of them; missing where neither was.
[[nodiscard]] report::Value iteration_json(const record::RunRecord& run, const analyse::Summary& summary);
[[nodiscard]] report::Value sources_json(const analyse::Summary& summary);
[[nodiscard]] report::Value host_watts_json(const analyse::HostWatts& host);
[[nodiscard]] report::Value idle_json(const analyse::Summary& summary);
[[nodiscard]] report::Value kernels_json(const analyse::Summary& summary);
[[nodiscard]] report::Value forecast_json(const Result<analyse::Forecast>& forecast);
[[nodiscard]] report::Value footprint_json(const analyse::Footprint& footprint,
                                           const analyse::Factors& factors);
/// {"energy_j", "band_sampling_j", "band_calibration_j", "kind", "apportioned", "unseen_s"}, or missing.
[[nodiscard]] report::Value figure_json(const std::optional<analyse::Figure>& figure);

}  // namespace rubato::cli
