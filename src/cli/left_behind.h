// Journals that lie about: which dead run's setting they stand for, and the command that puts it back.
#pragma once

#include <filesystem>
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

/// Whether a living guard, or rubatod, has the GPU whose journal lies in the folder. Absent where the lock
/// file cannot be opened: root's, seen by a user.
[[nodiscard]] std::optional<bool> held_by_a_guard(const std::filesystem::path& folder,
                                                  const std::string& uuid);

/// In every folder that this user can do something about; a folder that cannot be read is one entry too.
[[nodiscard]] std::vector<LeftBehind> left_behind();

}  // namespace rubato::cli
