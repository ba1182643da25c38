#include "experiment/calibrate/settings.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"

namespace rubato::experiment {
namespace {

constexpr double kLowestClock = 1.0 / 3;

std::set<double> evenly(double low, double high, unsigned count) {
  std::set<double> out;
  for (unsigned i = 0; i < count; ++i) out.insert(count == 1 ? high : low + (high - low) * i / (count - 1));
  return out;
}

std::vector<predict::KnobPoint> limits_of(const PowerLimits& limits, unsigned count) {
  std::vector<predict::KnobPoint> out;
  std::set<double> whole;
  for (const double watts : evenly(limits.min.value(), limits.max.value(), count))
    whole.insert(std::round(watts));
  for (const double watts : whole) {
    const Watts limit = std::clamp(Watts(watts), limits.min, limits.max);
    if (abs(limit - limits.requested) < Watts(1)) continue;
    out.push_back({.power_limit = limit});
  }
  return out;
}

/// The table's clocks nearest to an even spread; the highest is where an unlocked GPU is, more or less, and
/// still another setting: a lock ends boost.
std::vector<predict::KnobPoint> clocks_of(const std::vector<Megahertz>& table, Megahertz from, unsigned count,
                                          std::optional<Megahertz> predict::KnobPoint::*knob) {
  std::set<Megahertz> chosen;
  for (const double mhz : evenly(from.value(), table.back().value(), count))
    chosen.insert(*std::min_element(table.begin(), table.end(), [mhz](Megahertz a, Megahertz b) {
      return std::abs(a.value() - mhz) < std::abs(b.value() - mhz);
    }));
  std::vector<predict::KnobPoint> out;
  for (const Megahertz clock : chosen) {
    predict::KnobPoint at;
    at.*knob = clock;
    out.push_back(at);
  }
  return out;
}

tl::unexpected<Error> lacks(Knob knob) {
  return fail(ErrorCode::not_supported, cat("the ", name_of(knob), " of this GPU cannot be set"),
              "rubato devices says which knobs it has, and why not");
}

}  // namespace

Result<std::vector<predict::KnobPoint>> calibration_settings(std::span<const Knob> knobs,
                                                             const KnobRanges& ranges, unsigned per_knob) {
  std::vector<predict::KnobPoint> out;
  const auto add = [&out](const std::vector<predict::KnobPoint>& points) {
    out.insert(out.end(), points.begin(), points.end());
  };
  for (const Knob knob : knobs) {
    switch (knob) {
      case Knob::power_limit:
        if (!ranges.limits) return lacks(knob);
        add(limits_of(*ranges.limits, per_knob));
        break;
      case Knob::sm_clock:
        if (ranges.sm.empty()) return lacks(knob);
        add(clocks_of(ranges.sm, ranges.sm.back() * kLowestClock, per_knob, &predict::KnobPoint::sm_clock));
        break;
      case Knob::memory_clock:
        if (ranges.memory.empty()) return lacks(knob);
        // Every one of them: there are a handful, and nothing between.
        for (const Megahertz clock : ranges.memory) out.push_back({.memory_clock = clock});
        break;
      case Knob::application_clocks:
        return fail(ErrorCode::invalid_argument, "sweep tables have no application clocks",
                    "--knobs power-limit,sm-clock,memory-clock");
    }
  }
  return out;
}

std::vector<Knob> usual_knobs(const KnobRanges& ranges) {
  std::vector<Knob> out;
  if (ranges.limits) out.push_back(Knob::power_limit);
  if (!ranges.sm.empty()) out.push_back(Knob::sm_clock);
  return out;
}

}  // namespace rubato::experiment
