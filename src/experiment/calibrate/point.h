// One micro-benchmark under one setting, from the record of the run that measured it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "core/kind.h"
#include "experiment/sweep_measurement.h"
#include "predict/curve.h"
#include "record/reader.h"

namespace rubato::experiment {

/// Per unit of work.
struct UnitCost {
  Seconds time;
  Joules energy;
  std::int64_t units = 0;  // measured
};

/// The same run measures the found setting first: a quotient of the two is free of what drifts between runs.
struct CalibrationPoint {
  std::string benchmark;
  predict::KnobPoint at;  // without any knob: as found
  UnitCost at_default;
  std::optional<UnitCost> at_setting;  // absent where nothing was set, or it cannot be used
  Reached reached;
  std::string not_used;   // why the setting's figures are not used; empty: they are
  std::string disturbed;  // why nothing of this run is used: the same work did not take the same time
  std::vector<std::string> notes;
  std::map<std::string, double> features;  // at the found setting
  Kind kind = Kind::measured;
  std::string run_id;
};

/// A micro-benchmark does the same over and over: stretches of about 50 sensor updates at one setting differ
/// by no more than this (relative standard deviation), or something else had a hand in it.
inline constexpr double kSteady = 0.03;
/// Half width to which sampling must tell the energy at a setting, as a fraction.
inline constexpr double kKnownEnergy = 0.05;

/// unavailable: the run tells nothing of the found setting, and why.
[[nodiscard]] Result<CalibrationPoint> point_of(const record::RunRecord& run, std::string benchmark,
                                                const predict::KnobPoint& at);

}  // namespace rubato::experiment
