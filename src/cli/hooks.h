// What the job is given so that its programs mark their own iterations: the folder with rubato's
// sitecustomize in PYTHONPATH, and the library that records kernels where that was asked for.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rubato::cli {

struct HookWishes {
  bool python = true;
  std::optional<std::string> kernels;  // duty cycle as in RUBATO_KERNELS, "2s/60s"; absent: no kernels
};

struct HookPlan {
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> notes;  // for the person at the terminal, before the job starts
  std::string not_installed;       // empty where the Python hooks are there; for `doctor` and -v
  bool python_expected = false;    // the job is Python and nothing is known to stand in the hooks' way
};

/// `program`: rubato's own file, beside which its parts lie. RUBATO_HOOKS=off in `environment` is a wish,
/// too.
[[nodiscard]] HookPlan plan_hooks(const HookWishes& wishes, const std::vector<std::string>& command,
                                  const std::map<std::string, std::string>& environment,
                                  const std::filesystem::path& program);

/// Said at the end where python_expected and no hook told that it is in place. `marks`: the run's folder,
/// where hooks that could not be started leave the reason.
[[nodiscard]] std::string no_hook_came(const std::filesystem::path& marks);

}  // namespace rubato::cli
