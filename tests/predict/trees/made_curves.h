// Workloads whose curves are known: what the trees have to find.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "predict/curve.h"

namespace rubato::predict::trees {

/// Time grows with `share` of compute as the clock falls, power falls with the clock; noise as a relative
/// deviation.
inline Curve clock_curve(const std::string& name, const std::string& group, double share, double noise,
                         Random& random, std::vector<double> clocks = {600, 800, 1000, 1200, 1400}) {
  Curve curve{.workload = name, .group = group};
  for (const double clock : clocks) {
    const double x = clock / 1400;
    const double time = 10 * (share / x + 1 - share) * std::exp(noise * random.normal());
    const double power = 50 + 200 * x * x * x * std::exp(noise * random.normal());
    curve.rows.push_back({.at = {.power_limit = {}, .sm_clock = Megahertz(clock), .memory_clock = {}},
                          .time = Seconds(time),
                          .energy = Watts(power) * Seconds(time)});
  }
  curve.known = {.gpu = "made",
                 .at_default = curve.rows.back(),
                 .highest = {.power_limit = {}, .sm_clock = Megahertz(1400), .memory_clock = {}},
                 .features = {{"fp32_active", share}},
                 .probes = {}};
  return curve;
}

/// `count` workloads in groups of two.
inline std::vector<Curve> clock_curves(std::size_t count, double noise, std::uint64_t seed) {
  Random random(seed);
  std::vector<Curve> curves;
  for (std::size_t i = 0; i < count; ++i)
    curves.push_back(clock_curve("w" + std::to_string(i), "g" + std::to_string(i / 2),
                                 static_cast<double>(i % 10) / 10 + 0.05, noise, random));
  return curves;
}

inline std::vector<KnobPoint> settings_of(const Curve& curve) {
  std::vector<KnobPoint> at;
  for (const Observed& row : curve.rows) at.push_back(row.at);
  return at;
}

inline const std::vector<Knob> kSmClock = {Knob::sm_clock};

}  // namespace rubato::predict::trees
