#include "cli/run_teller.h"

#include <unistd.h>

#include "base/clock.h"

namespace rubato::cli {

std::function<void(record::RunState)> tell_run_state(const std::filesystem::path& folder,
                                                     const record::RunInfo& info, const std::string& gpu_list,
                                                     std::optional<pid_t> job) {
  return [folder, info, gpu_list, job](record::RunState state) {
    state.run_id = info.run_id;
    state.mode = info.mode;
    state.command = info.command;
    state.started_at = info.started_at;
    state.clock_rate = info.clock_rate;
    state.gpu_list = gpu_list;
    state.pid = getpid();
    state.job_pid = job;
    state.written_ns = RealClock().now().ns;
    static_cast<void>(record::save_run_state(folder, state));
  };
}

}  // namespace rubato::cli
