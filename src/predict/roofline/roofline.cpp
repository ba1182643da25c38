#include "predict/roofline/roofline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace rubato::predict {
namespace {

// Below it neither unit does anything worth placing, and counters' own error is as large.
constexpr double kIdle = 0.005;
// An upper bound of one cannot be told from one: counters are good to about a percent.
constexpr double kCounterError = 0.02;

constexpr std::array<Feature, kPipes.size()> kActivity = {Feature::tensor_active, Feature::fp64_active,
                                                          Feature::fp32_active, Feature::fp16_active,
                                                          Feature::integer_active};

std::optional<double> value_of(const std::map<std::string, double>& features, Feature feature) {
  const auto found = features.find(std::string(kFeatureNames[static_cast<std::size_t>(feature)]));
  if (found == features.end()) return std::nullopt;
  return found->second;
}

double intensity_of(const PeakRates& rates, double operations_per_clock, const Position& p) {
  return p.compute * operations_per_clock * p.at.sm.value() /
         (p.memory * rates.bytes_per_clock * p.at.memory.value());
}

}  // namespace

std::string_view name_of(Side side) {
  if (side == Side::compute) return "compute";
  return side == Side::memory ? "memory" : "unknown";
}

std::optional<Position> position_of(const std::map<std::string, double>& features, const Clocks& at,
                                    const std::optional<PeakRates>& rates) {
  const auto memory = value_of(features, Feature::dram_active);
  if (!memory) return std::nullopt;
  Position out{.at = at, .memory = *memory};
  for (std::size_t i = 0; i < kPipes.size(); ++i) {
    const auto active = value_of(features, kActivity[i]);
    if (!active || (out.pipe && *active <= out.compute)) continue;
    out.pipe = kPipes[i];
    out.compute = *active;
  }
  if (!out.pipe) {
    const auto active = value_of(features, Feature::sm_active);
    if (!active) return std::nullopt;
    out.compute = *active;
  }
  if (out.compute < kIdle && out.memory < kIdle) return std::nullopt;
  if (rates && out.pipe && out.memory > 0)
    if (const auto operations = rates->operations(*out.pipe))
      out.intensity = intensity_of(*rates, *operations, out);
  return out;
}

std::optional<Position> position_of(Pipe pipe, double operations_per_byte, const Clocks& at,
                                    const PeakRates& rates) {
  const auto top = ridge(rates, pipe, at.sm, at.memory);
  if (!top || !(operations_per_byte >= 0)) return std::nullopt;
  const double ratio = operations_per_byte / *top;
  // The unit that holds it up works all the time, the other its share of that.
  return Position{.at = at,
                  .pipe = pipe,
                  .compute = std::min(1.0, ratio),
                  .memory = ratio > 1 ? 1 / ratio : 1.0,
                  .intensity = operations_per_byte};
}

double ratio_at(const Position& position, const Clocks& clocks) {
  if (!(position.memory > 0)) return std::numeric_limits<double>::infinity();
  return position.compute / position.memory * (position.at.sm / clocks.sm) *
         (clocks.memory / position.at.memory);
}

Side side_at(const Position& position, const Clocks& clocks) {
  const double ratio = ratio_at(position, clocks);
  if (position.upper_bound()) return ratio <= 1 + kCounterError ? Side::memory : Side::unknown;
  return ratio > 1 ? Side::compute : Side::memory;
}

std::optional<Megahertz> memory_knee(const Position& position, Megahertz memory) {
  if (!(position.memory > 0)) return std::nullopt;
  return position.at.sm * (position.compute / position.memory * (memory / position.at.memory));
}

std::vector<Standing> standings(const Position& position, std::span<const Clocks> clocks,
                                const std::optional<PeakRates>& rates) {
  std::vector<Standing> out;
  for (const Clocks& at : clocks) {
    Standing standing{at, ratio_at(position, at), side_at(position, at), std::nullopt};
    if (rates && position.pipe) standing.ridge = ridge(*rates, *position.pipe, at.sm, at.memory);
    out.push_back(standing);
  }
  return out;
}

std::string describe(const Position& position, Megahertz highest) {
  const std::string with = position.pipe ? cat(" (", name_of(*position.pipe), " pipe") : std::string(" (SMs");
  std::string figures = cat(with, " ", number(position.compute * 100, 0), " % busy, memory ",
                            number(position.memory * 100, 0), " %");
  if (position.intensity) figures += cat(", ", number(*position.intensity, 1), " operations for each byte");
  figures += ")";
  const auto knee = memory_knee(position, position.at.memory);
  if (!knee) return cat("compute holds it up at every clock", figures);
  if (position.upper_bound()) {
    if (*knee <= highest * (1 + kCounterError))
      return cat("memory holds it up from ", cat(std::min(*knee, highest)), " on, or from less", figures);
    return cat("memory is not what holds it up all the time; which pipe works is not known", figures);
  }
  if (*knee >= highest) return cat("compute holds it up at every clock", figures);
  return cat("memory holds it up above ", *knee, ", compute below", figures);
}

std::map<std::string, double> roofline_features(const std::map<std::string, double>& features) {
  // Relative clocks will do: the highest is 1.
  const auto fraction = value_of(features, Feature::sm_clock_fraction);
  const Clocks at{Megahertz(fraction.value_or(1.0)), Megahertz(1)};
  const auto position = position_of(features, at);
  std::map<std::string, double> out;
  if (!position) return out;
  out.emplace(kRooflineReach, std::max(position->compute, position->memory));
  const double ratio = std::max(position->compute, 1e-9) / std::max(position->memory, 1e-9);
  out.emplace(kRooflineRatio, std::clamp(std::log2(ratio), -6.0, 6.0));
  if (fraction)
    out.emplace(kRooflineKnee,
                std::clamp(memory_knee(*position, at.memory).value_or(Megahertz(4)).value(), 0.0, 4.0));
  return out;
}

std::map<std::string, double> named_features(const FeatureVector& counted) {
  std::map<std::string, double> out;
  for (std::size_t i = 0; i < kFeatureCount; ++i)
    if (counted.values[i]) out.emplace(kFeatureNames[i], *counted.values[i]);
  return out;
}

}  // namespace rubato::predict
