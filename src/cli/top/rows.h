// The rows of GPUs, runs and processes, and the sentences below a selected one.
#pragma once

#include <string>
#include <vector>

#include "cli/top/columns.h"
#include "cli/top/state.h"

namespace rubato::cli::top {

[[nodiscard]] const std::vector<Column>& gpu_columns();
[[nodiscard]] Row gpu_row(const GpuState& gpu, const State& state);

[[nodiscard]] const std::vector<Column>& run_columns();
[[nodiscard]] Row run_row(const RunNow& run, const State& state);
/// Why rubato does what it does, and what the run has come to; each a sentence of its own.
[[nodiscard]] std::vector<std::string> run_details(const RunNow& run);

[[nodiscard]] const std::vector<Column>& process_columns();
[[nodiscard]] Row process_row(const ProcessState& process, const State& state);

/// The whole name, what can be set, and what has no column.
[[nodiscard]] std::vector<std::string> gpu_details(const GpuState& gpu);

}  // namespace rubato::cli::top
