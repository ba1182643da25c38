// Where the reports of a step's tasks lie until its srun has put them together: in the user's state folder,
// which the nodes of a cluster usually share.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

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

}  // namespace rubato::slurm
