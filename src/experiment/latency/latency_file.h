// How long clock changes take on one GPU, as `rubato latency` found it and keeps it per UUID:
// rubato.latency/1 (docs/formats.md).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "core/kind.h"
#include "predict/roofline/roofline.h"

namespace rubato::experiment {

struct DelaySummary {
  Seconds median;
  Seconds p95;
  Seconds worst;
  unsigned n = 0;         // changes that were timed
  unsigned outliers = 0;  // of them, longer than twice their pair's median
};

/// From the driver's being asked to the clock read-out's being there; absent: no change of this pair could be
/// timed, and `why_not` says what was in the way.
struct PairLatency {
  predict::Clocks from;
  predict::Clocks to;
  std::optional<DelaySummary> clock;
  std::optional<DelaySummary> power;  // to within 10 % of its step; absent: no step to be seen
  unsigned lost = 0;                  // changes that could not be timed
  std::string why_not;                // of the latest of these
};

struct LatencyTable {
  std::string uuid;
  std::string gpu;  // as the driver prints it
  std::string driver_version;
  Kind kind = Kind::measured;
  std::string measured_on;  // "2026-11-22", UTC
  std::string load;         // the micro-benchmark under which it was measured
  unsigned repeats = 0;
  Seconds polling_gap;  // median time between the readings without and with the new clock: a delay is known
                        // to half of it, either way
  std::optional<Seconds> readout_period;  // shortest time seen between two changes of the clock read-out
  std::optional<Seconds> power_period;    // of the power sensor: no power delay is known better
  std::optional<Seconds> asking;          // median, from rubato's request to its guard's call of the driver;
                                          // absent on a simulated GPU, whose time is not the guard's
  std::vector<PairLatency> pairs;
  DelaySummary overall;  // of all changes
};

/// What a plan counts with.
struct TypicalDelay {
  Seconds delay;       // median
  std::string source;  // "measured", "between 1200 and 1560 MHz of target", ... for people
};
/// From the request to the new clock, `asking` included: the pair's own median where it was measured, else a
/// straight line between the medians of the nearest measured targets, for the target clock matters far more
/// than the initial one (LATEST, arXiv 2502.20075). Zero where nothing changes.
[[nodiscard]] TypicalDelay typical_delay(const LatencyTable& table, const predict::Clocks& from,
                                         const predict::Clocks& to);

[[nodiscard]] std::string write_latency(const LatencyTable& table);
/// Errors: invalid_argument names the field, value found and value needed; not_supported: another version.
[[nodiscard]] Result<LatencyTable> read_latency(std::string_view json);

/// $XDG_STATE_HOME/rubato/latency/UUID.json, else under ~/.local/state.
[[nodiscard]] Result<std::filesystem::path> latency_file_of(std::string_view uuid);
/// not_found where this GPU was not measured yet: the hint is the command. conflict: measured under another
/// driver.
[[nodiscard]] Result<LatencyTable> load_latency(std::string_view uuid, std::string_view driver_version);
/// Replaces the file at once, or leaves it as it was.
[[nodiscard]] Result<std::filesystem::path> save_latency(const LatencyTable& table);

}  // namespace rubato::experiment
