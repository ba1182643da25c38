// From the rows of one workload to a surface: which knobs they sweep, and whether every combination is there.
#pragma once

#include <optional>

#include "base/result.h"
#include "core/sweep_table.h"
#include "device/replay/surface.h"

namespace rubato::device::replay {

struct Grid {
  Surface surface;
  SweepRow default_row;
  bool default_assumed = false;
  std::optional<Point> off_curve;  // the default row, where it names no clock and the others do
};

/// `table` has the rows of one workload.
[[nodiscard]] Result<Grid> grid_of(const SweepTable& table);

}  // namespace rubato::device::replay
