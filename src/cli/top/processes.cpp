#include "cli/top/processes.h"

#include <pwd.h>
#include <sys/stat.h>

#include <array>
#include <map>

#include "base/text.h"
#include "conduct/ownership.h"
#include "report/format.h"

namespace rubato::cli::top {
namespace {

std::string user_name(uid_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer{};
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return found->pw_name;
  return std::to_string(uid);
}

std::string owner_of(const FsRoot& root, pid_t pid) {
  struct stat info {};
  if (stat(root.path(cat("/proc/", pid)).c_str(), &info) != 0) return {};
  return user_name(info.st_uid);
}

std::string command_of(const FsRoot& root, pid_t pid) {
  const auto words = root.read(cat("/proc/", pid, "/cmdline"));
  if (!words) return {};
  std::vector<std::string> command = split(*words, '\0');
  while (!command.empty() && command.back().empty()) command.pop_back();
  if (!command.empty()) return report::command_line(command);
  const auto name = root.read(cat("/proc/", pid, "/comm"));
  return name ? cat("[", trim(*name), "]") : std::string();
}

std::string run_of(const FsRoot& root, const ComputeProcess& process, const std::vector<RunNow>& runs) {
  for (const RunNow& run : runs) {
    const conduct::OwnershipCheck check(root, run.state.job_pid.value_or(0), run.state.run_id);
    if (check.judge({process}).job_here) return run.state.run_id;
  }
  return {};
}

}  // namespace

std::vector<ProcessState> describe_processes(const FsRoot& root,
                                             const std::vector<std::vector<ComputeProcess>>& by_gpu,
                                             const std::vector<RunNow>& runs) {
  std::map<std::int64_t, ProcessState> found;
  for (std::size_t gpu = 0; gpu < by_gpu.size(); ++gpu) {
    for (const ComputeProcess& process : by_gpu[gpu]) {
      const auto [at, fresh] = found.try_emplace(process.pid);
      ProcessState& state = at->second;
      if (fresh) {
        state.pid = static_cast<pid_t>(process.pid);
        state.user = owner_of(root, state.pid);
        state.command = command_of(root, state.pid);
        state.run_id = run_of(root, process, runs);
      }
      state.gpus.push_back(gpu);
      if (process.memory_bytes) state.memory_bytes = state.memory_bytes.value_or(0) + *process.memory_bytes;
    }
  }
  std::vector<ProcessState> out;
  out.reserve(found.size());
  for (auto& [pid, state] : found) out.push_back(std::move(state));
  return out;
}

}  // namespace rubato::cli::top
