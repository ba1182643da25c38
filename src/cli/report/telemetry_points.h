// One GPU's telemetry as a detector takes it, from a trace or a run record.
#pragma once

#include <string>
#include <vector>

#include "core/telemetry_csv.h"
#include "progress/telemetry.h"
#include "record/reader.h"

namespace rubato::cli {

[[nodiscard]] std::vector<progress::TelemetryPoint> points_of(const TelemetryTrace& trace);
/// In order of time; a fast and a slow reading of the same moment are one point.
[[nodiscard]] std::vector<progress::TelemetryPoint> points_of(const record::DeviceRecord& device);
/// The columns that are there, named as in a trace.
[[nodiscard]] std::vector<std::string> columns_of(const std::vector<progress::TelemetryPoint>& points);

}  // namespace rubato::cli
