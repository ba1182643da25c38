#include "exporter/process_list.h"

#include <pwd.h>
#include <sys/stat.h>

#include <array>
#include <map>

#include "base/process_tree.h"
#include "base/text.h"

namespace rubato::exporter {
namespace {

std::string user_of(const FsRoot& root, pid_t pid) {
  struct stat info {};
  if (stat(root.path(cat("/proc/", pid)).c_str(), &info) != 0) return {};
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer{};
  if (getpwuid_r(info.st_uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return found->pw_name;
  return std::to_string(info.st_uid);
}

std::string name_of_process(const FsRoot& root, pid_t pid) {
  const auto name = root.read(cat("/proc/", pid, "/comm"));
  return name ? std::string(trim(*name)) : std::string();
}

/// The nearest of its ancestors that a run calls its job.
std::string run_of(const FsRoot& root, pid_t pid, const std::vector<record::RunState>& runs) {
  std::optional<pid_t> one = pid;
  for (int depth = 0; one && *one > 1 && depth < kDeepestProcessTree; ++depth) {
    for (const record::RunState& run : runs)
      if (run.job_pid == *one) return run.run_id;
    one = parent_of(root, *one);
  }
  return {};
}

}  // namespace

std::vector<ProcessEntry> processes_of(const FsRoot& root,
                                       const std::vector<Result<std::vector<ComputeProcess>>>& by_gpu,
                                       const std::vector<record::RunState>& runs) {
  std::map<std::int64_t, ProcessEntry> found;
  for (std::size_t gpu = 0; gpu < by_gpu.size(); ++gpu) {
    if (!by_gpu[gpu]) continue;
    for (const ComputeProcess& process : *by_gpu[gpu]) {
      const auto [at, fresh] = found.try_emplace(process.pid);
      ProcessEntry& entry = at->second;
      if (fresh) {
        entry.pid = static_cast<pid_t>(process.pid);
        entry.user = user_of(root, entry.pid);
        entry.name = name_of_process(root, entry.pid);
        entry.run_id = run_of(root, entry.pid, runs);
      }
      entry.gpus.push_back(gpu);
      if (process.memory_bytes) entry.memory_bytes = entry.memory_bytes.value_or(0) + *process.memory_bytes;
    }
  }
  std::vector<ProcessEntry> out;
  out.reserve(found.size());
  for (auto& [pid, entry] : found) out.push_back(std::move(entry));
  return out;
}

}  // namespace rubato::exporter
