// The folder a job's mark rings arrive in: made for one run, gone with it. What a killed rubato left is swept
// by the next one.
#pragma once

#include <filesystem>
#include <string>

#include "base/fd.h"
#include "base/fs_root.h"
#include "base/result.h"

namespace rubato::conduct {

class MarkFolder {
 public:
  /// PARENT/marks-RUN_ID, 0700, locked for as long as this object lives: so another rubato sees that somebody
  /// reads it.
  [[nodiscard]] static Result<MarkFolder> create(const std::filesystem::path& parent,
                                                 const std::string& run_id);
  MarkFolder(MarkFolder&& other) noexcept;
  MarkFolder& operator=(MarkFolder&&) = delete;
  ~MarkFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  MarkFolder(std::filesystem::path path, ScopedFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::filesystem::path path_;
  ScopedFd lock_;
};

/// Removes mark folders in `parent` that are this user's own, that no rubato reads and of whose run no
/// process lives any more (`root` is where /proc is). Returns how many; what cannot be looked at stays.
std::size_t sweep_mark_folders(const std::filesystem::path& parent, const FsRoot& root = FsRoot{});

}  // namespace rubato::conduct
