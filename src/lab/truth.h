// From a sweep table to jobs whose cost at every setting is known: one per distinct workload.
#pragma once

#include <vector>

#include "base/result.h"
#include "core/sweep_table.h"
#include "lab/grid_surface.h"
#include "lab/job.h"
#include "lab/row_grid.h"

namespace rubato::lab {

struct TruthOptions {
  std::vector<Knob> knobs;  // empty: all that the table varies
  Resolution resolution = Resolution::hardware;
  TruthKind truth = TruthKind::denoised;
  Seconds iteration{0.3};  // at the found setting, whatever the table's unit of work is
};

[[nodiscard]] Result<std::vector<Job>> jobs_of(const SweepTable& table, const TruthOptions& options);

[[nodiscard]] Result<std::vector<RowGrid>> row_grids(const SweepTable& table, const TruthOptions& options);
[[nodiscard]] Job job_of(const RowGrid& rows, TruthKind truth, Seconds iteration);

/// Time and energy over those at the found setting, at every setting of the job made from `rows`.
struct Costs {
  std::vector<double> time;
  std::vector<double> energy;
};
[[nodiscard]] Costs costs_of(const RowGrid& rows, TruthKind truth);

}  // namespace rubato::lab
