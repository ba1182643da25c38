// The file operations that journals and lock files rest on, one virtual each, so that a test can count them,
// fail them and stop after any one of them. And the folder both kinds of file live in, checked when opened.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace rubato::guard {

struct FileFacts {
  bool is_folder = false;
  bool is_regular = false;
  uid_t owner = 0;
  mode_t mode = 0;  // permission bits
  std::uint64_t size = 0;
};

/// Names are inside an open folder, so that no path is walked twice. Every open is close-on-exec and follows
/// no symbolic link.
class FileOps {
 public:
  virtual ~FileOps() = default;

  /// Fine where it stands already.
  [[nodiscard]] virtual Status make_folder(const std::filesystem::path& path, mode_t mode);
  [[nodiscard]] virtual Result<ScopedFd> open_folder(const std::filesystem::path& path);
  [[nodiscard]] virtual Status set_mode(int fd, mode_t mode);
  [[nodiscard]] virtual Result<ScopedFd> open(int folder, const std::string& name, int flags, mode_t mode);
  [[nodiscard]] virtual Result<FileFacts> facts(int fd);
  [[nodiscard]] virtual Result<std::vector<std::string>> list(int folder);
  [[nodiscard]] virtual Result<std::string> read_all(int fd);
  /// Everything or an error; an error may leave a part behind.
  [[nodiscard]] virtual Status append(int fd, std::string_view bytes);
  [[nodiscard]] virtual Status sync(int fd);
  [[nodiscard]] virtual Status truncate(int fd, std::uint64_t size);
  /// conflict where `to` stands already.
  [[nodiscard]] virtual Status rename(int folder, const std::string& from, const std::string& to);
  /// In the place of what stands at `to`, in one step.
  [[nodiscard]] virtual Status replace(int folder, const std::string& from, const std::string& to);
  [[nodiscard]] virtual Status remove(int folder, const std::string& name);
  /// Exclusive and at once; busy where another open file holds it.
  [[nodiscard]] virtual Status lock(int fd);
};

/// A folder that nobody but its owner, this process's effective user, can change.
class Folder {
 public:
  /// Makes it (not its parents) where it is missing. All that `mode` allows is allowed afterwards, whatever
  /// the umask, and where it was there with less: a guard of an earlier version made the system folder
  /// unreadable. Nothing that was allowed is taken away: the folder may be one that others read.
  [[nodiscard]] static Result<Folder> make(const std::filesystem::path& path, mode_t mode,
                                           std::shared_ptr<FileOps> files);
  /// not_found where it is missing.
  [[nodiscard]] static Result<Folder> open(const std::filesystem::path& path, std::shared_ptr<FileOps> files);

  /// A regular file of this user's, not writable by others.
  [[nodiscard]] Result<ScopedFd> open_file(const std::string& name, int flags) const;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] int fd() const { return fd_->get(); }
  [[nodiscard]] FileOps& files() const { return *files_; }

 private:
  Folder(std::filesystem::path path, ScopedFd fd, std::shared_ptr<FileOps> files);

  std::filesystem::path path_;
  std::shared_ptr<ScopedFd> fd_;
  std::shared_ptr<FileOps> files_;
};

/// Whether a UUID can be a journal's name: no path, none of the endings used beside journals, and told from
/// what else lies in a user's runtime folder by its "GPU-".
[[nodiscard]] Status check_file_name(std::string_view uuid);

/// Journals of real GPUs: root-owned, readable by all so that anyone can see what was left behind.
inline constexpr const char* kSystemFolder = "/run/rubato";
inline constexpr mode_t kSystemFolderMode = 0755;
inline constexpr mode_t kUserFolderMode = 0700;

}  // namespace rubato::guard
