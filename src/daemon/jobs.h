// Which GPU the scheduler gave to which job, as its prolog tells (docs/slurm.md). Kept in a file, so that it
// outlives rubatod; not the machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "core/gpu_id.h"
#include "daemon/caller.h"
#include "guard/files.h"

namespace rubato::daemon {

struct GpuJob {
  std::int64_t slurm_job = 0;
  uid_t user = 0;
  TimePoint began{};                        // on the clock the GPU lives on
  std::optional<std::int64_t> energy_mj{};  // the GPU's counter then
};
using Jobs = std::map<GpuId, GpuJob>;

/// The caller as the rules are to see them on a GPU of `job`: where no cgroup tells a job
/// (proctrack/linuxproc), a process of the job's user is one of the job's there, and nowhere else.
[[nodiscard]] Caller placed(const Caller& caller, const std::optional<GpuJob>& job);

[[nodiscard]] std::string print_jobs(const Jobs& jobs, std::string_view boot_id);
/// Nothing where it is of another boot or cannot be read whole: then jobs are unknown, and set less.
[[nodiscard]] Jobs parse_jobs(std::string_view text, std::string_view boot_id);

/// "slurm-jobs" in the folder of the journals.
class JobsFile {
 public:
  JobsFile(guard::Folder folder, std::string boot_id)
      : folder_(std::move(folder)), boot_id_(std::move(boot_id)) {}
  [[nodiscard]] Jobs read() const;
  /// In one step, and synced.
  [[nodiscard]] Status keep(const Jobs& jobs) const;

 private:
  guard::Folder folder_;
  std::string boot_id_;
};

}  // namespace rubato::daemon
