// The file system as code sees it: tests hand in a folder that holds a fake /proc, /sys or /run.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rubato {

class FsRoot {
 public:
  FsRoot() = default;  // the real one
  explicit FsRoot(std::filesystem::path root) : root_(std::move(root)) {}

  /// `absolute` ("/proc/self/cgroup") under this root.
  [[nodiscard]] std::filesystem::path path(std::string_view absolute) const;
  /// Whole content of a small file (at most 1 MiB).
  [[nodiscard]] Result<std::string> read(std::string_view absolute) const;
  [[nodiscard]] bool exists(std::string_view absolute) const;

 private:
  std::filesystem::path root_ = "/";
};

/// Whole content of a small file (at most 1 MiB).
[[nodiscard]] Result<std::string> read_small_file(const std::filesystem::path& path);

}  // namespace rubato
