// Who asks: what the kernel says about the process at the other end of a connection, and about the processes
// that compute on a GPU. Nothing in here is taken from what a client says or from its environment.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fs_root.h"
#include "core/sample.h"
#include "wire/peer.h"

namespace rubato::daemon {

struct Caller {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
  pid_t pid = 0;
  std::string cgroup;  // of the unified hierarchy, or the first one named; empty: not told
  std::optional<std::int64_t> slurm_job;
  /// When `pid` began (base/process_tree.h). Ids are used again: absent where `pid` was gone, or somebody
  /// else's, when it was looked at, and then nothing else is known of it.
  std::optional<std::int64_t> began{};
  /// It runs in another namespace of users than rubatod (a rootless container): which of their /etc/subuid
  /// its uid is, and which groups it has, is its user's own choice.
  bool in_user_namespace = false;
};

/// The job whose step owns this cgroup (proc(7), cgroup(7)): only paths that slurmd itself makes count, so
/// that nobody gets a job's GPUs by making a folder of that name in a cgroup of their own.
[[nodiscard]] std::optional<std::int64_t> slurm_job_of(std::string_view proc_cgroup);

/// Of a process that has just connected.
[[nodiscard]] Caller caller_of(const wire::Peer& peer, const FsRoot& root);

/// A process on the GPU that is not the caller's: of another user or another Slurm job and not started below
/// the caller (as a job under sudo is), or one that cannot be seen from here. Empty where there is none.
[[nodiscard]] std::string foreign_process(const Caller& caller, const std::vector<ComputeProcess>& processes,
                                          const FsRoot& root);

/// "user 1001 (process 4711)", with the Slurm job where there is one, and whether it is in a
/// user namespace.
[[nodiscard]] std::string describe(const Caller& caller);

}  // namespace rubato::daemon
