#include "daemon/caller.h"

#include "base/process_tree.h"
#include "base/text.h"

namespace rubato::daemon {
namespace {

/// "job_123" → 123.
std::optional<std::int64_t> job_number(std::string_view part) {
  constexpr std::string_view kJob = "job_";
  if (!part.starts_with(kJob)) return std::nullopt;
  const auto number = parse_integer(part.substr(kJob.size()));
  return number && *number > 0 ? number : std::nullopt;
}

bool is_uid_part(std::string_view part) {
  constexpr std::string_view kUid = "uid_";
  return part.starts_with(kUid) && parse_integer(part.substr(kUid.size())).has_value();
}

/// cgroup v1: /slurm/uid_U/job_J/…, or /slurm_NODE/… of several slurmd on one host; cgroup v2:
/// /system.slice/slurmstepd.scope/job_J/…, or NODE_slurmstepd.scope (Slurm's cgroup plugins).
std::optional<std::int64_t> job_in_path(std::string_view path) {
  if (!path.starts_with('/')) return std::nullopt;
  const auto parts = split(path.substr(1), '/');
  if (parts.size() < 3) return std::nullopt;
  const bool v1 = (parts[0] == "slurm" || parts[0].starts_with("slurm_")) && is_uid_part(parts[1]);
  const bool v2 = parts[0] == "system.slice" &&
                  (parts[1] == "slurmstepd.scope" || parts[1].ends_with("_slurmstepd.scope"));
  return v1 || v2 ? job_number(parts[2]) : std::nullopt;
}

/// A line is "HIERARCHY:CONTROLLERS:PATH".
std::string_view path_of(std::string_view line) {
  const std::size_t first = line.find(':');
  const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
  return second == std::string_view::npos ? std::string_view() : line.substr(second + 1);
}

std::string cgroup_path(const std::string& proc_cgroup) {
  std::string path;
  for (const std::string& line : split(proc_cgroup, '\n')) {
    if (path.empty() || line.starts_with("0::")) path = path_of(line);
  }
  return path;
}

/// The caller's process or one below it; where that has ended, whoever has its id now is somebody else.
bool is_of_caller(const FsRoot& root, std::int64_t pid, const Caller& caller) {
  if (!caller.began) return false;
  auto process = static_cast<pid_t>(pid);
  for (int depth = 0; process > 1 && depth < kDeepestProcessTree; ++depth) {
    if (process == caller.pid) return beginning_of(root, process) == caller.began;
    const auto parent = parent_of(root, process);
    if (!parent) return false;
    process = *parent;
  }
  return false;
}

}  // namespace

std::optional<std::int64_t> slurm_job_of(std::string_view proc_cgroup) {
  for (const std::string& line : split(proc_cgroup, '\n'))
    if (const auto job = job_in_path(path_of(line))) return job;
  return std::nullopt;
}

Caller caller_of(const wire::Peer& peer, const FsRoot& root) {
  const Caller unknown{peer.uid, peer.gid, peer.groups, peer.pid, {}, {}};
  Caller caller = unknown;
  caller.began = beginning_of(root, peer.pid);
  if (const auto users = users_of(root, peer.pid); !users || users->effective != peer.uid) return unknown;
  const std::string cgroup = root.read(cat("/proc/", peer.pid, "/cgroup")).value_or("");
  caller.cgroup = cgroup_path(cgroup);
  caller.slurm_job = slurm_job_of(cgroup);
  // Seen from here, as both are; absent where the kernel has no such namespaces.
  const auto map_of = [&root](std::string_view pid) {
    return root.read(cat("/proc/", pid, "/uid_map")).value_or("");
  };
  caller.in_user_namespace = map_of(std::to_string(peer.pid)) != map_of("self");
  // All of that was read of one process only if it is still the same.
  const bool same = caller.began && beginning_of(root, peer.pid) == caller.began;
  return same ? caller : unknown;
}

std::string foreign_process(const Caller& caller, const std::vector<ComputeProcess>& processes,
                            const FsRoot& root) {
  for (const ComputeProcess& process : processes) {
    if (is_of_caller(root, process.pid, caller)) continue;
    const auto users = users_of(root, static_cast<pid_t>(process.pid));
    if (!users) {
      // Ended since the driver was asked, or in a namespace of processes that is not ours: the caller asks
      // twice.
      if (!root.exists(cat("/proc/", process.pid)) && process.pid > 0)
        return cat("the driver names process ", process.pid, ", which cannot be seen from here");
      return cat("process ", process.pid, " cannot be looked at");
    }
    if (users->real != caller.uid)
      return cat("process ", process.pid, " of user ", users->real, " computes there too");
    const auto job = slurm_job_of(root.read(cat("/proc/", process.pid, "/cgroup")).value_or(""));
    if (job != caller.slurm_job)
      return cat("process ", process.pid, " of ", job ? cat("Slurm job ", *job) : std::string("no Slurm job"),
                 " computes there too");
  }
  return {};
}

std::string describe(const Caller& caller) {
  return cat("user ", caller.uid, " (process ", caller.pid,
             caller.slurm_job ? cat(", Slurm job ", *caller.slurm_job) : "",
             caller.in_user_namespace ? ", in a user namespace" : "", ")");
}

}  // namespace rubato::daemon
