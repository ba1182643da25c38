// Workloads whose curves are known: time = 1 - share + share / clock, energy follows.
#pragma once

#include <cmath>
#include <random>

#include "base/text.h"
#include "predict/curve.h"

namespace rubato::predict::made {

inline Observed row_at(double clock, double share, double watts, double noise_time = 0) {
  Observed out;
  out.at.sm_clock = Megahertz(clock * 1000);
  out.time = Seconds((1 - share + share / clock) * std::exp(noise_time));
  // A third of the power stays, the rest follows the clock's square.
  out.energy = Watts(watts * (1 + 2 * clock * clock) / 3) * out.time;
  return out;
}

inline Curve curve(std::string group, std::string name, double share, double watts,
                   const std::vector<double>& clocks = {1.0, 0.9, 0.8, 0.7, 0.6, 0.5}) {
  Curve out;
  out.workload = std::move(name);
  out.group = std::move(group);
  out.known.gpu = "made";
  out.known.highest.sm_clock = Megahertz(1000);
  out.known.at_default = row_at(1.0, share, watts);
  for (const double c : clocks) out.rows.push_back(row_at(c, share, watts));
  return out;
}

/// Five groups of four. The power at the default tells the share: 200 W at none of it, 300 W where all is
/// compute; with `hidden` it tells nothing.
inline std::vector<Curve> population(bool hidden = false, double noise = 0) {
  std::mt19937 random(7);  // the standard fixes its numbers
  const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  std::vector<Curve> out;
  for (int g = 0; g < 5; ++g)
    for (int w = 0; w < 4; ++w) {
      const double share = 0.05 + 0.9 * uniform();
      const double watts = hidden ? 250 + 20 * uniform() : 200 + 100 * share;
      Curve c = curve(cat("group", g), cat("workload", g, "/", w), share, watts);
      for (Observed& row : c.rows) {
        if (row.at == c.known.at_default.at) continue;
        row.time *= std::exp(noise * (uniform() + uniform() + uniform() - 1.5) * 2);
      }
      out.push_back(std::move(c));
    }
  return out;
}

/// Where `curve` was measured, the default too.
inline std::vector<KnobPoint> points(const Curve& curve) {
  std::vector<KnobPoint> out;
  for (const Observed& row : curve.rows) out.push_back(row.at);
  return out;
}

}  // namespace rubato::predict::made
