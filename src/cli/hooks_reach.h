// Whether rubato's hooks can be active in a job, told from the words of its command alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rubato::cli {

struct HooksReach {
  bool python = false;                 // the command starts Python, as far as its words tell
  std::optional<std::string> why_not;  // one clause: "`python -I` does not look at PYTHONPATH"
};

/// What stands in a script or behind `sh -c` is not seen.
[[nodiscard]] HooksReach hooks_reach(const std::vector<std::string>& command);

}  // namespace rubato::cli
