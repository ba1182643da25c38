// The user's command as rubato's child: same process group, same terminal, same standard streams; rubato only
// waits. docs/design.md#a-run-step-by-step says what is forwarded and what is not.
#pragma once

#include <sys/signalfd.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace rubato::conduct {

struct JobStatus {
  enum class State { running, stopped, exited, killed } state = State::running;
  int code = 0;    // of exited
  int signal = 0;  // of stopped and killed

  [[nodiscard]] bool ended() const { return state == State::exited || state == State::killed; }
};

/// Why a command could not be started, with the exit status env(1) would give: 127 not found, 126 otherwise.
struct StartFailure {
  int exit_code = 126;
  Error error;
};

class Job {
 public:
  /// Starts `command` with `environment` added to the caller's own. The child gets back the signal mask and
  /// dispositions this process had at start-up (remember_signals()).
  [[nodiscard]] static tl::expected<Job, StartFailure> start(
      const std::vector<std::string>& command,
      const std::vector<std::pair<std::string, std::string>>& environment);

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Non-blocking; the last known state where nothing changed.
  [[nodiscard]] JobStatus poll();
  void send(int signal) const;

 private:
  explicit Job(pid_t pid) : pid_(pid) {}
  pid_t pid_;
  JobStatus status_;
};

/// Stops this process too where the job was stopped at a terminal (Ctrl-Z): its shell sees both stop, and
/// continues both. A SIGSTOP, or a stop without a terminal, is the job's alone: nobody would continue us.
void stop_with(Job& job);

/// Whether the job has not been sent this as well: a terminal, and timeout(1), signal the whole group.
[[nodiscard]] bool sent_to_us_alone(const signalfd_siginfo& info);

/// Call first thing in main(): what the shell handed down (nohup's ignored SIGHUP, say) is what the job gets.
/// From then on SIGXFSZ is ignored: a write past `ulimit -f` fails instead.
void remember_signals();

}  // namespace rubato::conduct
