// The signals in which a shift can show, and the scale on which each is compared: fractions by their
// difference, everything else by its ratio.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/feature_schema.h"
#include "progress/shift.h"

namespace rubato::progress {

struct SignalKind {
  std::string_view name;
  std::string_view unit;  // empty for fractions
  bool fraction = false;
  double floor = 0;  // where the ratio of two values stops to mean anything, in the signal's unit

  [[nodiscard]] double to_scale(double value) const;
  [[nodiscard]] double from_scale(double y) const;
  /// The smallest change worth telling, on the scale.
  [[nodiscard]] double smallest(double fraction_of_level) const;
};

/// Period, power, utilisation, then the features in the order of the schema.
inline constexpr std::size_t kSignalCount = 3 + kFeatureCount;
[[nodiscard]] const SignalKind& signal_kind(std::size_t signal);
[[nodiscard]] const SignalKind& signal_kind(Feature feature);
/// Absent where the reading does not tell it, or tells what no such signal can be.
[[nodiscard]] std::optional<double> signal_of(const ShiftReading& reading, std::size_t signal);

}  // namespace rubato::progress
