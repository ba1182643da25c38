// What models learn from and are asked about: a workload under several settings, relative to its default.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "core/setting.h"
#include "core/sweep_table.h"

namespace rubato::predict {

/// Where the knobs stand: an absent one is not locked and at its highest.
struct KnobPoint {
  std::optional<Watts> power_limit;
  std::optional<Megahertz> sm_clock;
  std::optional<Megahertz> memory_clock;
  auto operator<=>(const KnobPoint&) const = default;
};

/// In W or MHz; absent as there.
[[nodiscard]] std::optional<double> value_of(const KnobPoint& at, Knob knob);

/// What is not among `knobs` stands absent.
[[nodiscard]] KnobPoint only(const KnobPoint& at, std::span<const Knob> knobs);

/// One measured setting. Time and energy per unit of fixed work; `repeats` rows of a table may stand behind
/// it.
struct Observed {
  KnobPoint at;
  Seconds time;
  Joules energy;
  unsigned repeats = 1;
  /// Relative standard errors, where whoever measured knows them.
  std::optional<double> time_error;
  std::optional<double> energy_error;

  [[nodiscard]] Watts power() const { return energy / time; }
};

/// What a predictor may know of a workload: never its name, its group or the other rows of its table.
struct Known {
  std::string gpu;
  Observed at_default;
  KnobPoint highest;  // of each knob on this GPU; a default that locks nothing is there
  /// At the default setting, named as in the table without "feature_"; with what the roofline makes of them.
  std::map<std::string, double> features;
  std::vector<Observed> probes;  // further settings that were measured
};

struct Curve {
  std::string workload;
  std::string group;
  bool default_assumed = false;
  Known known;                 // without probes
  std::vector<Observed> rows;  // the default too
};

/// The table's distinct workloads as curves over these knobs: rows of the same setting become their mean.
/// invalid_argument, with the line where a row is at fault: a knob that no row varies, a workload with one
/// setting, features present for some workloads' defaults only, rows whose other knobs differ too.
[[nodiscard]] Result<std::vector<Curve>> curves_of(const SweepTable& table, std::span<const Knob> knobs);

}  // namespace rubato::predict
