// Recorded telemetry as text (docs/formats.md#telemetry-trace): whatever can be read of it is, and what
// cannot is counted and named.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"

namespace rubato {

/// One line; a cell that was empty or unusable is absent.
struct TelemetryRow {
  TimePoint at;  // of the file's own axis
  std::optional<Watts> power;
  std::optional<double> sm_utilisation;      // fraction, 0..1
  std::optional<double> memory_utilisation;  // fraction, 0..1
  std::optional<Megahertz> sm_clock;
};

struct TelemetryTrace {
  std::vector<TelemetryRow> rows;        // as they stand in the file: time may go back or stand still
  std::vector<std::string> columns;      // read, besides time_s
  std::vector<std::string> ignored;      // unknown columns
  std::size_t dropped_cells = 0;         // no number, not finite, or out of range
  std::size_t dropped_rows = 0;          // without a usable time, or of another number of cells
  std::vector<std::string> first_drops;  // the first few, with line and value
};

/// Needs the column time_s and at least one of power_w, sm_util_pct, memory_util_pct, sm_clock_mhz, in any
/// order. Errors name `name` and the line.
[[nodiscard]] Result<TelemetryTrace> parse_telemetry(std::string_view text,
                                                     std::string_view name = "telemetry trace");
/// At most 1 GiB; pipes are read to their end.
[[nodiscard]] Result<TelemetryTrace> read_telemetry(const std::filesystem::path& path);

}  // namespace rubato
