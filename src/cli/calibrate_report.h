// What `rubato calibrate` says at its end, as text and as "rubato.calibrate/1".
#pragma once

#include <string>
#include <vector>

#include "core/gpu_id.h"
#include "core/kind.h"
#include "experiment/calibrate/result.h"
#include "report/value.h"

namespace rubato::cli {

struct CalibrationReport {
  GpuIdentity gpu;
  Kind kind = Kind::measured;
  std::vector<predict::KnobPoint> settings;  // that were to be measured
  bool dry_run = false;
  bool complete = true;
  std::vector<experiment::CalibratedBenchmark> benchmarks;
  struct Skipped {
    std::string name;
    std::string why;
  };
  std::vector<Skipped> skipped;
  experiment::Ceilings ceilings;
  std::optional<predict::Clocks> clocks;  // seen under the first benchmark at the found setting
  std::string table;                      // the file; empty: none was written
};

[[nodiscard]] report::Value calibration_json(const CalibrationReport& report);
[[nodiscard]] std::string calibration_text(const CalibrationReport& report);

}  // namespace rubato::cli
