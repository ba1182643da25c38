// One workload of a sweep table, laid out by knob: what the lab's truth is made from.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/sweep_table.h"
#include "lab/grid_surface.h"
#include "predict/curve.h"

namespace rubato::lab {

enum class Resolution {
  hardware,  // every step the GPU takes: 1 W, its own SM clocks; memory clocks as in the table
  table,     // the table's own settings
};

struct RowGrid {
  std::string workload;
  std::string group;
  std::string gpu;
  std::vector<Knob> knobs;        // one per axis: power limit, SM clock, memory clock
  std::vector<SurfaceAxis> axes;  // W or MHz
  std::vector<double> time;       // s, per crossing of rows, the last axis running fastest
  std::vector<double> power;      // W
  predict::KnobPoint found;       // the default; an absent knob is at its highest
  std::map<std::string, double> features;
  bool default_assumed = false;  // no row says which is the found setting
};

/// The knobs a table varies, in the order of RowGrid::knobs.
[[nodiscard]] std::vector<Knob> varied_knobs(const SweepTable& table);

/// Curves over `knobs` alone: rows where another knob stands elsewhere than at its workload's default are
/// left out.
[[nodiscard]] Result<std::vector<predict::Curve>> curves_along(const SweepTable& table,
                                                               std::span<const Knob> knobs);

/// invalid_argument where a workload has fewer than two values of a knob, or lacks a crossing of two, and
/// where no row of its GPU names a knob.
[[nodiscard]] Result<RowGrid> row_grid(const predict::Curve& curve, std::span<const Knob> knobs,
                                       Resolution resolution);

}  // namespace rubato::lab
