#include "progress/detectors.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "progress/gpoeo/gpoeo_detector.h"
#include "progress/period/period_detector.h"

namespace rubato::progress {
namespace {

constexpr std::array kDetectors = {
    DetectorKind{"rubato", "rubato's own", &make_period_detector},
    DetectorKind{"gpoeo", "GPOEO's, after its published description, as a reference",
                 [](const TelemetryFacts&) -> std::unique_ptr<PeriodDetector> {
                   return std::make_unique<gpoeo::GpoeoDetector>();
                 }},
};

}  // namespace

std::span<const DetectorKind> detectors() {
  return kDetectors;
}

Result<const DetectorKind*> find_detector(std::string_view name) {
  const auto found = std::ranges::find(kDetectors, name, &DetectorKind::name);
  if (found != kDetectors.end()) return &*found;
  std::string names;
  for (const DetectorKind& kind : kDetectors) names += cat(names.empty() ? "" : ", ", kind.name);
  return fail(ErrorCode::invalid_argument, cat("there is no detector '", name, "'"),
              cat("there are: ", names));
}

}  // namespace rubato::progress
