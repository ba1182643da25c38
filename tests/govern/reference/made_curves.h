// Made curves, and a search that walks over one: which settings it tried and where it ended.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "govern/reference/search.h"
#include "plan/knob_space.h"

namespace rubato::govern {

inline std::vector<double> steps(double from, double to, double by) {
  std::vector<double> out;
  for (double v = from; v <= to + 1e-9; v += by) out.push_back(v);
  return out;
}

inline plan::KnobSpace limits(double from, double to, double by) {
  return {.gpu = "a board",
          .axes = {{.knob = Knob::power_limit, .values = steps(from, to, by)}},
          .found = {.power_limit = Watts(to)},
          .highest = {.power_limit = Watts(to)}};
}

inline plan::KnobSpace clocks(double from, double to, double by) {
  return {.gpu = "a board",
          .axes = {{.knob = Knob::sm_clock, .values = steps(from, to, by)}},
          .found = {.sm_clock = Megahertz(to)},
          .highest = {.sm_clock = Megahertz(to)}};
}

/// The RTX 3080 Ti as GPOEO's code has it: 120 SM clocks, five memory clocks.
inline plan::KnobSpace gpoeo_board() {
  plan::KnobSpace out = clocks(210, 1995, 15);
  out.gpu = "NVIDIA GeForce RTX 3080 Ti";
  out.axes.push_back({.knob = Knob::memory_clock, .values = {405, 810, 5001, 9251, 9501}});
  out.found.memory_clock = out.highest.memory_clock = 9501_MHz;
  return out;
}

/// Over those at the found setting.
struct Ratio {
  double time = 1;
  double energy = 1;
};
using Curve = std::function<Ratio(const predict::KnobPoint&)>;

struct Walk {
  std::vector<SearchStep> tried;
  SearchStep end;
};

/// A job that takes 0.3 s and 66 J (220 W) at the found setting.
inline TrialResult result_of(const SearchStep& step, const plan::KnobSpace& space, const Curve& curve) {
  const predict::KnobPoint at = step.found ? space.found : step.at;
  const Ratio ratio = step.found ? Ratio{} : curve(at);
  return {at, step.found, {.work = 40, .time = 0.3_s * ratio.time, .energy = 66_J * ratio.energy}};
}

inline Walk walk(Search& search, const plan::KnobSpace& space, const Curve& curve) {
  Walk out;
  std::vector<TrialResult> seen{result_of({.found = true}, space, curve)};
  while (out.tried.size() < 100) {
    out.end = search.next(seen);
    if (out.end.kind == SearchStep::Kind::hold) return out;
    out.tried.push_back(out.end);
    seen.push_back(result_of(out.end, space, curve));
  }
  return out;
}

inline std::vector<double> tried_watts(const Walk& walk) {
  std::vector<double> out;
  for (const SearchStep& step : walk.tried) out.push_back(step.at.power_limit->value());
  return out;
}

inline std::vector<double> tried_clocks(const Walk& walk) {
  std::vector<double> out;
  for (const SearchStep& step : walk.tried) out.push_back(step.at.sm_clock->value());
  return out;
}

}  // namespace rubato::govern
