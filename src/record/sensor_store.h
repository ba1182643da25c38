// What rubato itself found out about one GPU's power sensor, kept for the next run: one small JSON file per
// GPU (docs/formats.md#sensor-facts).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "core/capability.h"
#include "core/gpu_id.h"

namespace rubato::record {

/// What a board tells against another meter (`rubato calibrate-meter`).
struct FoundGain {
  double gain = 1;              // told by the board for each watt the meter sees
  std::optional<Watts> offset;  // absent: the meter saw more than the board
  double band = 0;              // of the gain, half width as a fraction; the meter's own is in it
  std::string against;          // "snmp:rack, outlet-7"
  std::string on;               // "2026-11-21", for people
};

/// Absent is not known yet, which is legal.
struct FoundSensor {
  GpuId gpu;
  std::string driver_version;
  std::optional<Seconds> update_period;
  std::optional<Seconds> averaging_window;
  std::optional<Seconds> counter_period;
  std::string how;       // "update period from 9 changes of the reading in 0.9 s"
  std::string found_on;  // "2026-11-21", for people
  std::uint64_t samples = 0;
  std::optional<FoundGain> calibration;
};

/// $XDG_STATE_HOME/rubato/sensors, else ~/.local/state/rubato/sensors.
[[nodiscard]] Result<std::filesystem::path> default_sensor_folder();
/// The folder that belongs to the records in `runs`.
[[nodiscard]] std::filesystem::path sensor_folder_beside(const std::filesystem::path& runs);

/// Errors: not_found where nothing was found out yet, or under another driver version (the hint says which);
/// corrupt.
[[nodiscard]] Result<FoundSensor> load_sensor_facts(const std::filesystem::path& folder, const GpuId& gpu,
                                                    std::string_view driver_version);
/// Replaces the file at once, or leaves it as it was.
[[nodiscard]] Status save_sensor_facts(const std::filesystem::path& folder, const FoundSensor& found);

/// What was found on this very GPU in the place of what a table says of its kind; `source` says which is
/// which.
[[nodiscard]] SensorFacts with_found(SensorFacts table, const FoundSensor& found);

}  // namespace rubato::record
