#include "daemon/surroundings.h"

#include <algorithm>
#include <system_error>

#include "base/process_tree.h"
#include "base/text.h"

namespace rubato::daemon {
namespace {

namespace fs = std::filesystem;

/// The kernel keeps 15 bytes of a process's name (proc(5)).
constexpr std::size_t kLongestName = 15;

bool any_process_called(const FsRoot& root, const std::string& name, uid_t own) {
  const std::string wanted = name.substr(0, kLongestName);
  std::error_code error;
  for (fs::directory_iterator entry(root.path("/proc"), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string pid = entry->path().filename().string();
    const auto number = parse_integer(pid);
    if (!number) continue;
    const auto comm = root.read(cat("/proc/", pid, "/comm"));
    if (!comm || trim(*comm) != wanted) continue;
    const auto users = users_of(root, static_cast<pid_t>(*number));
    if (users && (users->real == 0 || users->real == own)) return true;
  }
  return false;
}

}  // namespace

bool is_disabled(const FsRoot& root, const fs::path& disable_file) {
  return root.exists(disable_file.string());
}

std::string what_forbids(const FsRoot& root, const std::vector<NeverDuring>& never, uid_t own) {
  for (const NeverDuring& one : never) {
    if (!one.file.empty() && root.exists(one.file))
      return cat("never during '", one.name, "': ", one.file, " exists");
    if (!one.process.empty() && any_process_called(root, one.process, own))
      return cat("never during '", one.name, "': a process ", one.process, " runs");
  }
  return {};
}

}  // namespace rubato::daemon
