// A model that is judged, or used, on workloads it learned from looks better than it is.
#pragma once

#include <string>

#include "core/sweep_table.h"

namespace rubato::cli {

/// A warning where workloads of `table` stand in `train` as well; both with the names of their files.
void warn_of_seen_workloads(const SweepTable& table, const std::string& table_file, const SweepTable& train,
                            const std::string& train_file);

}  // namespace rubato::cli
