// Journals that lie about: which dead run's setting they stand for, and the command that puts it back.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rubato::cli {

struct LeftBehind {
  std::string uuid;
  std::string what;
  std::string hint;                 // the command; empty where a living run has it
  std::optional<std::string> spec;  // the backend whose guard can put it back from here; absent: none known
  bool held = false;                // a living guard has the GPU
};

/// In every folder that this user can do something about; a folder that cannot be read is one entry too.
[[nodiscard]] std::vector<LeftBehind> left_behind();

}  // namespace rubato::cli
