#include "conduct/mark_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "conduct/ownership.h"
#include "record/run_state.h"

namespace rubato::conduct {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = record::kRunFolderPrefix;
// Until it is locked a folder has another name, or a sweep could take it between the two.
constexpr std::string_view kUnfinished = "new-marks-";

/// Open and locked; closed where it is not ours, no folder, or somebody holds it.
ScopedFd lock_folder(const fs::path& path) {
  ScopedFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!fd.is_open() || ::fstat(fd.get(), &info) != 0 || info.st_uid != ::geteuid() ||
      ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0)
    return ScopedFd();
  return fd;
}

bool is_number(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Run ids in the environments of all processes that may be looked at; those of others are others' jobs.
std::set<std::string> living_runs(const FsRoot& root) {
  std::set<std::string> runs;
  const std::string wanted = cat(kRunIdVariable, "=");
  std::error_code error;
  fs::directory_iterator it(root.path("/proc"), error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    const std::string pid = it->path().filename().string();
    if (!is_number(pid)) continue;
    const auto environment = root.read(cat("/proc/", pid, "/environ"));
    if (!environment) continue;
    for (const std::string& entry : split(*environment, '\0'))
      if (entry.starts_with(wanted)) runs.insert(entry.substr(wanted.size()));
  }
  return runs;
}

}  // namespace

Result<MarkFolder> MarkFolder::create(const fs::path& parent, const std::string& run_id) {
  const fs::path path = parent / cat(kPrefix, run_id);
  const fs::path unfinished = parent / cat(kUnfinished, run_id);
  if (::mkdir(unfinished.c_str(), 0700) != 0)
    return fail(from_errno(errno, cat("cannot make ", unfinished.string())));
  ScopedFd lock = lock_folder(unfinished);
  if (::rename(unfinished.c_str(), path.c_str()) != 0) {
    const int number = errno;
    ::rmdir(unfinished.c_str());
    return fail(from_errno(number, cat("cannot make ", path.string())));
  }
  return MarkFolder(path, std::move(lock));
}

MarkFolder::MarkFolder(MarkFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

MarkFolder::~MarkFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

std::size_t sweep_mark_folders(const fs::path& parent, const FsRoot& root) {
  std::vector<fs::path> candidates;
  std::error_code error;
  fs::directory_iterator it(parent, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error))
    if (it->path().filename().string().starts_with(kPrefix)) candidates.push_back(it->path());
  if (candidates.empty()) return 0;
  const std::set<std::string> alive = living_runs(root);
  std::size_t swept = 0;
  for (const fs::path& folder : candidates) {
    const std::string run_id = folder.filename().string().substr(kPrefix.size());
    if (alive.contains(run_id)) continue;
    const ScopedFd lock = lock_folder(folder);
    if (!lock.is_open()) continue;
    if (fs::remove_all(folder, error) > 0 && !error) ++swept;
  }
  return swept;
}

}  // namespace rubato::conduct
