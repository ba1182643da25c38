// What Slurm's prolog and epilog do on a node: tell rubatod whose the GPUs are, wait until nothing of
// rubato's is in force on them, and drain the node where that cannot be had.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fs_root.h"
#include "base/result.h"
#include "wire/message.h"

namespace rubato::slurm {

/// The job as slurmd tells it to a prolog or epilog (prolog_epilog of slurm.conf(5)).
struct Job {
  std::int64_t id = 0;
  std::int64_t user = 0;
  std::string node;            // its name in Slurm
  std::vector<unsigned> gpus;  // numbers of /dev/nvidiaN; empty: it has none, or GRES does not count them
};

/// From SLURM_JOB_ID, SLURM_JOB_UID, SLURMD_NODENAME and SLURM_JOB_GPUS. invalid_argument where Slurm did not
/// start this.
[[nodiscard]] Result<Job> job_of(const std::map<std::string, std::string>& environment);

/// "0,2-3" → 0 2 3; nothing where it is no such list.
[[nodiscard]] std::optional<std::vector<unsigned>> parse_numbers(std::string_view text);

/// Which GPU /dev/nvidiaN is: the driver's own word in /proc/driver/nvidia, and for GPUs that are not there
/// (simulated ones) rubatod's index. GPUs that rubatod does not manage are left out.
[[nodiscard]] std::vector<GpuId> uuids_of(const std::vector<unsigned>& numbers,
                                          const wire::StatusReply& status, const FsRoot& root);

struct NodeOptions {
  std::filesystem::path socket;       // of rubatod
  std::filesystem::path journals;     // its folder
  std::filesystem::path energy_file;  // of the epilog: a line of JSON per job is appended; empty: none
  bool whole_node = false;            // a job has all GPUs of its nodes, and Slurm counts none
  bool drain = true;
};

enum class Moment { prolog, epilog, clear };

/// The exit status for Slurm: 1 where a GPU is not as it was found. `clear`: of every managed GPU, whoever
/// has it.
[[nodiscard]] int at(Moment moment, const NodeOptions& options);

}  // namespace rubato::slurm
