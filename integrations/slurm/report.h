// One report of a step: its tasks' own put together, every GPU counted once.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace rubato::slurm {

/// One GPU in one task's report (`rubato.run/1`, docs/formats.md).
struct GpuOfTask {
  std::string node;
  std::string uuid;
  std::string name;
  std::int64_t index = 0;
  std::string quality;
  std::optional<double> energy_j;
  std::optional<double> band_j;  // both of its bands, as half widths
  std::string restoration;
};

struct TaskReport {
  std::string run_id;
  double duration_s = 0;
  std::vector<GpuOfTask> gpus;
  std::string saving;  // in words; empty: nothing to compare
};

/// Errors: corrupt, naming the file.
[[nodiscard]] Result<TaskReport> read_task_report(const std::string& text, const std::string& node,
                                                  const std::string& file);

/// A GPU that several tasks measured stands once, with the longest measurement; nothing is added for it.
[[nodiscard]] std::string step_report(const std::string& step, std::vector<TaskReport> tasks,
                                      std::size_t unreadable);

/// Of the reports in the step's folder, to standard error; the folder is removed. The exit status.
int report_step(const std::string& step);

}  // namespace rubato::slurm
