#include "record/run_state.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/fd.h"
#include "base/fs_root.h"
#include "base/text.h"

namespace rubato::record {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFile = "state.json";

// The one who writes holds the folder's lock from before it had its name.
bool rubato_lives(const fs::path& folder) {
  const ScopedFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!fd.is_open() || ::fstat(fd.get(), &info) != 0 || info.st_uid != ::geteuid()) return false;
  return ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

Status save_run_state(const fs::path& run_folder, const RunState& state) {
  const std::string text = write_run_state(state);
  const fs::path fresh = run_folder / cat(kFile, ".new");
  const fs::path file = run_folder / kFile;
  {
    const ScopedFd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd.is_open()) return fail(from_errno(errno, cat("cannot write ", fresh.string())));
    const ssize_t written = ::write(fd.get(), text.data(), text.size());
    if (written != static_cast<ssize_t>(text.size()))
      return fail(from_errno(written < 0 ? errno : ENOSPC, cat("cannot write ", fresh.string())));
  }
  if (::rename(fresh.c_str(), file.c_str()) != 0)
    return fail(from_errno(errno, cat("cannot write ", file.string())));
  return {};
}

std::vector<RunState> living_run_states(const fs::path& runtime_folder) {
  std::vector<RunState> out;
  std::error_code error;
  fs::directory_iterator it(runtime_folder, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    if (!it->path().filename().string().starts_with(kRunFolderPrefix) || !rubato_lives(it->path())) continue;
    const auto text = read_small_file(it->path() / kFile);
    if (!text) continue;
    if (auto state = parse_run_state(*text)) out.push_back(std::move(*state));
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.run_id < b.run_id; });
  return out;
}

}  // namespace rubato::record
