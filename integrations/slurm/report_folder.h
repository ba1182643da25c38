// Where the reports of a step's tasks lie until its srun has put them together: in the user's state folder,
// which the nodes of a cluster usually share.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace rubato::slurm {

/// Of "JOB.STEP"; empty where there is no home.
inline std::filesystem::path report_folder(const std::string& step) {
  const auto variable = [](const char* name) -> std::filesystem::path {
    const char* value = std::getenv(name);
    return value != nullptr && value[0] == '/' ? value : "";
  };
  std::filesystem::path state = variable("XDG_STATE_HOME");
  if (state.empty() && !variable("HOME").empty()) state = variable("HOME") / ".local" / "state";
  return state.empty() ? state : state / "rubato" / "slurm" / step;
}

/// For a step that begins: a requeued job has the numbers of its earlier start, whose srun may have been
/// killed before it put the reports together.
inline void forget_reports(const std::string& step) {
  const std::filesystem::path folder = report_folder(step);
  std::error_code ignored;
  if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
}

}  // namespace rubato::slurm
