// Runs a session beside a real job. With live_meters.h the one place in rubato that owns threads: the main
// thread waits for signals and the job and keeps the lease alive; a second one steps the session, so that a
// driver call or a disk that hangs can delay a reading but never a signal, a heartbeat or the job's exit
// status for long.
#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "conduct/job.h"
#include "conduct/live_meters.h"
#include "conduct/session.h"
#include "wire/lease_client.h"

namespace rubato::conduct {

/// What ends the run; any of them may be absent.
struct Watched {
  Job* job = nullptr;
  std::optional<TimePoint> deadline;     // measure --seconds
  std::optional<pid_t> pid;              // measure --pid
  int news = -1;                         // a descriptor: readable where the session has to step at once
  std::function<void()> disk_is_slow{};  // at the end, told once; from then on a signal ends the waiting
};

struct LiveOutcome {
  std::optional<JobStatus> job;  // how the job ended; absent: no job, or it was left running
  bool interrupted = false;  // the user ended the waiting (Ctrl-C, or the second one where there is a job)
  bool session_finished =
      true;                 // false: a driver call hangs; the guard, told nothing more, restores by itself
  bool disk_hangs = false;  // then it was no driver, but the disk of the run record
  bool meters_answered = true;  // false: a meter hangs; leave by leave_now()
};

class LiveDriver {
 public:
  /// `lease` and `meters` may be null.
  LiveDriver(std::shared_ptr<const Clock> clock, Session& session, wire::LeaseClient* lease,
             LiveMeters* meters = nullptr)
      : clock_(std::move(clock)), session_(session), lease_(lease), meters_(meters) {}

  /// Call take_signals() before the job starts and before any thread.
  [[nodiscard]] LiveOutcome run(const Watched& watched);

 private:
  std::shared_ptr<const Clock> clock_;
  Session& session_;
  wire::LeaseClient* lease_;
  LiveMeters* meters_;
};

/// All that would end or stop this process and leave the job without it, but for its own faults.
[[nodiscard]] sigset_t taken_signals();

/// From here on signals are read by LiveDriver instead of interrupting or ending this process.
void take_signals();

}  // namespace rubato::conduct
