// The workloads of a sweep table: which rows are theirs, which of them is the default, and which are the same
// curve under two names.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/sweep_table.h"

namespace rubato {

struct SweepWorkload {
  std::string gpu;
  std::string workload;
  std::string group;
  std::vector<std::size_t> rows;  // in SweepTable::rows, in the table's order
  std::size_t default_row = 0;    // in SweepTable::rows
  bool default_assumed = false;   // no row says so: it is the one with every knob at its highest
};

/// In the order in which the table first names them. invalid_argument names the workload that has no default
/// row, or several.
[[nodiscard]] Result<std::vector<SweepWorkload>> workloads_of(const SweepTable& table);

/// Positions of the workloads that are no other name for an earlier one: same settings, times and energies.
[[nodiscard]] std::vector<std::size_t> workloads_distinct(const SweepTable& table,
                                                          const std::vector<SweepWorkload>& workloads);

/// How many of the table's workloads a model that learns from `train` has seen: of the same name on the same
/// GPU, or with two rows of the same setting, time and energy.
[[nodiscard]] std::size_t workloads_seen(const SweepTable& table, const SweepTable& train);

}  // namespace rubato
