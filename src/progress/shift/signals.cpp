#include "progress/shift/signals.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rubato::progress {
namespace {

constexpr std::size_t kBeforeFeatures = 3;

constexpr SignalKind fraction_named(std::string_view name) {
  return {name, "", true, 0};
}

constexpr SignalKind feature_kind(Feature feature) {
  const std::string_view name = kFeatureNames[static_cast<std::size_t>(feature)];
  switch (feature) {
    case Feature::pcie_tx_bytes_per_s:
    case Feature::pcie_rx_bytes_per_s:
    case Feature::nvlink_tx_bytes_per_s:
    case Feature::nvlink_rx_bytes_per_s:
      return {name, "B/s", false, 10e6};  // commands and polling, no data
    case Feature::instructions_per_second:
      return {name, "1/s", false, 1e6};
    case Feature::instructions_per_cycle:
      return {name, "1", false, 0.01};
    case Feature::l1_misses_per_instruction:
    case Feature::l2_misses_per_instruction:
      return {name, "1", false, 1e-3};
    default:
      return fraction_named(name);
  }
}

constexpr std::array<SignalKind, kSignalCount> make_kinds() {
  std::array<SignalKind, kSignalCount> kinds{};
  kinds[0] = {"period", "s", false, 0};
  kinds[1] = {"power", "W", false, 0};
  kinds[2] = fraction_named("utilisation");
  for (std::size_t i = 0; i < kFeatureCount; ++i)
    kinds[kBeforeFeatures + i] = feature_kind(static_cast<Feature>(i));
  return kinds;
}

constexpr std::array<SignalKind, kSignalCount> kKinds = make_kinds();
constexpr double kZeroOnScale = -25;  // logarithm that stands for zero

}  // namespace

double SignalKind::to_scale(double value) const {
  if (fraction) return value;
  return value + floor > 0 ? std::max(kZeroOnScale, std::log(value + floor)) : kZeroOnScale;
}

double SignalKind::from_scale(double y) const {
  if (fraction) return y;
  return y <= kZeroOnScale ? 0 : std::max(0.0, std::exp(y) - floor);
}

double SignalKind::smallest(double fraction_of_level) const {
  return fraction ? fraction_of_level : std::log1p(fraction_of_level);
}

const SignalKind& signal_kind(std::size_t signal) {
  return kKinds[signal];
}

const SignalKind& signal_kind(Feature feature) {
  return kKinds[kBeforeFeatures + static_cast<std::size_t>(feature)];
}

std::optional<double> signal_of(const ShiftReading& reading, std::size_t signal) {
  std::optional<double> value;
  if (signal == 0 && reading.period) {
    value = reading.period->value();
  } else if (signal == 1 && reading.power) {
    value = reading.power->value();
  } else if (signal == 2) {
    value = reading.sm_utilisation;
  } else if (signal >= kBeforeFeatures && reading.features) {
    value = reading.features->values[signal - kBeforeFeatures];
  }
  if (!value || !std::isfinite(*value) || *value < 0) return std::nullopt;
  // A period of nothing is no period; a fraction above one is a mistake of who told it.
  if (signal == 0 && *value == 0) return std::nullopt;
  if (signal_kind(signal).fraction && *value > 1) return std::nullopt;
  return value;
}

}  // namespace rubato::progress
