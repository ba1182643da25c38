// Every way rubato has to find the iteration in telemetry, by name.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "progress/telemetry.h"

namespace rubato::progress {

struct DetectorKind {
  std::string_view name;
  std::string_view says;  // one clause for a list
  std::unique_ptr<PeriodDetector> (*make)(const TelemetryFacts&);
};

/// The default first.
[[nodiscard]] std::span<const DetectorKind> detectors();
/// invalid_argument, with the names there are.
[[nodiscard]] Result<const DetectorKind*> find_detector(std::string_view name);

}  // namespace rubato::progress
