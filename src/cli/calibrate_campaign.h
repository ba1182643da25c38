// The runs of `rubato calibrate`: every benchmark under every setting, each a run of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/calibrate_report.h"
#include "cli/gpus.h"
#include "cli/invocation.h"
#include "experiment/calibrate/benchmarks.h"
#include "experiment/calibrate/settings.h"
#include "predict/curve.h"

namespace rubato::cli {

struct CalibrateOptions {
  std::vector<std::string> knobs;   // names
  std::vector<std::string> values;  // "power-limit=100:250:25"
  std::vector<std::string> benchmarks;
  std::string output;
  std::string found_sm_clock;
  std::uint64_t seed = 1;
  unsigned settings = experiment::kSettingsPerKnob;
  bool dry_run = false;
  bool list = false;
  bool force = false;
  bool sudo = false;
  bool accept_unrestored = false;
  bool allow_shared = false;
};

/// `open` holds the one GPU. What cannot be measured is in the report with its reason; Ctrl-C makes it
/// incomplete.
[[nodiscard]] CalibrationReport run_calibration(const Invocation& invocation, const CalibrateOptions& options,
                                                OpenGpus open,
                                                const std::vector<const experiment::Benchmark*>& benchmarks,
                                                const std::vector<predict::KnobPoint>& settings);

}  // namespace rubato::cli
