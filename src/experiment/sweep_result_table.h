// A sweep's summary as a sweep table (docs/formats.md#sweep-table).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/setting.h"
#include "core/sweep_table.h"
#include "experiment/sweep_summary.h"

namespace rubato::experiment {

struct SweepNames {
  std::string gpu;    // of all of them, in words
  std::string board;  // the name of each; empty: they differ, and energies are of all together
  std::string workload;
  std::string group;
  std::vector<std::string> comments;  // what was run, when, how
};

/// One row a setting. `default_limit`: the found one, where power limits are swept; clocks of the default row
/// stay empty, which says that nothing is locked. Intervals go into the comments. Features only where every
/// row has them.
[[nodiscard]] SweepTable table_of(const SweepSummary& summary, const SweepNames& names,
                                  std::optional<Watts> default_limit);

}  // namespace rubato::experiment
