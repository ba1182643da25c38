#include "conduct/live_driver.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

#include "base/call_count.h"
#include "base/fd.h"
#include "conduct/end_patience.h"
#include "conduct/interrupts.h"
#include "conduct/stall_watch.h"

namespace rubato::conduct {
namespace {

// The end of a run looks this often at what its session is waiting for.
constexpr int kEndLookMs = 100;
// Where the kernel has no process descriptors, a process that is not our child is looked at this often.
constexpr int kPidPollMs = 100;
// A session that stands still is looked at this often.
constexpr int kStalledLookMs = 100;

/// Whether somebody wants rubato itself to end; whatever else has come is dropped.
bool told_to_end(int signals) {
  bool told = false;
  signalfd_siginfo info{};
  while (read(signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
    for (const int ends : {SIGINT, SIGQUIT, SIGTERM, SIGHUP})
      told = told || static_cast<int>(info.ssi_signo) == ends;
  return told;
}

/// Timers outlive exec, and rubato sets none.
bool is_alarm(int signal) {
  return signal == SIGALRM || signal == SIGVTALRM || signal == SIGPROF;
}

/// Steps the session on a thread of its own until told how the job ended. It sleeps in ppoll(): one system
/// call for a wake-up, which at the rate of the fastest sensors is most of what watching costs.
class SessionThread {
 public:
  SessionThread(const Clock& clock, Session& session, int news)
      : clock_(clock),
        session_(session),
        news_(news),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        done_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        thread_([this] { loop(); }) {}

  /// Verdict::wait: the session has finished. `signals` end the waiting for a slow disk, once `disk_is_slow`
  /// was told.
  EndPatience::Verdict finish(const JobEnd& end, int signals, const std::function<void()>& disk_is_slow) {
    {
      const std::lock_guard lock(mutex_);
      end_ = end;
    }
    signal(wake_);
    using Verdict = EndPatience::Verdict;
    const RealClock wall;
    EndPatience patience(wall.now(), calls_begun());
    bool slow = false;
    for (pollfd done{done_.get(), POLLIN, 0}; poll(&done, 1, kEndLookMs) <= 0;) {
      const bool at_the_disk = session_.at_the_disk();
      const Verdict verdict = patience.look(wall.now(), calls_begun(), at_the_disk);
      if (verdict == Verdict::driver_hangs || verdict == Verdict::disk_hangs) return verdict;
      if (verdict == Verdict::disk_is_slow) {
        slow = true;
        if (disk_is_slow) disk_is_slow();
      } else if (slow && at_the_disk && told_to_end(signals)) {
        return Verdict::disk_hangs;
      }
    }
    thread_.join();
    return Verdict::wait;
  }

  void nudge() { signal(wake_); }

  /// A number that changes while the session gets on.
  [[nodiscard]] std::uint64_t progress() const { return steps_.load() + calls_begun(); }
  [[nodiscard]] bool asleep() const { return asleep_.load(); }

 private:
  static void signal(const ScopedFd& event) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(event.get(), &one, sizeof one);
  }

  std::optional<JobEnd> ended() {
    const std::lock_guard lock(mutex_);
    return end_;
  }

  void sleep_until(TimePoint due) {
    const double wall = std::clamp(clock_.wall(due - clock_.now()).value(), 0.0, 3600.0);
    const auto whole = static_cast<time_t>(wall);
    const timespec patience{whole, static_cast<long>((wall - static_cast<double>(whole)) * 1e9)};
    std::array<pollfd, 2> wake = {pollfd{wake_.get(), POLLIN, 0}, pollfd{news_, POLLIN, 0}};
    if (ppoll(wake.data(), wake.size(), &patience, nullptr) > 0 && wake[0].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t got = read(wake_.get(), &count, sizeof count);
    }
  }

  void loop() {
    std::optional<JobEnd> end;
    while (!(end = ended())) {
      session_.step(clock_.now());
      ++steps_;
      asleep_ = true;
      sleep_until(session_.next_due());
      asleep_ = false;
    }
    session_.finish(clock_.now(), *end);
    signal(done_);
  }

  const Clock& clock_;
  Session& session_;
  int news_;
  ScopedFd wake_;
  ScopedFd done_;
  std::mutex mutex_;
  std::optional<JobEnd> end_;
  std::atomic<std::uint64_t> steps_{0};
  std::atomic<bool> asleep_{false};
  std::thread thread_;  // last: it uses everything above
};

int milliseconds_until(const Clock& clock, TimePoint due) {
  const double ms = clock.wall(due - clock.now()).value() * 1e3;
  return static_cast<int>(std::clamp(std::ceil(ms), 0.0, 60'000.0));
}

/// A process that is not our child. Its descriptor becomes readable when it ends, reaped or not.
class OtherProcess {
 public:
  explicit OtherProcess(pid_t pid) : pid_(pid), fd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] bool ended() const {
    if (!fd_.is_open()) return kill(pid_, 0) != 0 && errno == ESRCH;
    pollfd ready{fd_.get(), POLLIN, 0};
    return poll(&ready, 1, 0) > 0;
  }

 private:
  pid_t pid_;
  ScopedFd fd_;
};

}  // namespace

sigset_t taken_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal :
       {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, SIGCHLD, SIGTSTP, SIGCONT, SIGTTOU,
        SIGTTIN, SIGALRM, SIGXCPU, SIGPROF, SIGVTALRM, SIGIO, SIGPWR, SIGSTKFLT})
    sigaddset(&set, signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) sigaddset(&set, signal);
  return set;
}

void take_signals() {
  const sigset_t set = taken_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

LiveOutcome LiveDriver::run(const Watched& watched) {
  const sigset_t set = taken_signals();
  const ScopedFd signals(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  LiveOutcome outcome;
  auto thread = std::make_unique<SessionThread>(*clock_, session_, watched.news);
  std::optional<OtherProcess> other;
  if (watched.pid) other.emplace(*watched.pid);
  const RealClock wall;
  Interrupts interrupts;
  StallWatch stall(wall.now());
  bool stalled = false;
  bool lease_alive = lease_ != nullptr;

  for (bool waiting = true; waiting;) {
    int patience = -1;
    const auto wake_within = [&patience](int ms) { patience = patience < 0 ? ms : std::min(patience, ms); };
    // The session takes the lease while this thread sleeps: look at least once a period whether heartbeats
    // began.
    if (lease_alive && stalled)
      wake_within(kStalledLookMs);
    else if (lease_alive)
      wake_within(
          milliseconds_until(*clock_, std::min(lease_->next_due(), clock_->now() + wire::kHeartbeatPeriod)));
    if (watched.deadline) wake_within(milliseconds_until(*clock_, *watched.deadline));
    if (other && other->fd() < 0) wake_within(kPidPollMs);

    std::array<pollfd, 2> ready = {pollfd{signals.get(), POLLIN, 0},
                                   pollfd{other ? other->fd() : -1, POLLIN, 0}};
    if (poll(ready.data(), ready.size(), patience) < 0 && errno != EINTR) break;
    stalled = stall.stalled(wall.now(), thread->progress(), thread->asleep());
    if (lease_alive && !stalled && !lease_->step(clock_->now())) {
      lease_alive = false;
      thread->nudge();  // the session finds out by asking, and has what was left behind put back
    }

    signalfd_siginfo info{};
    while (read(signals.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      const int signal = static_cast<int>(info.ssi_signo);
      switch (signal) {
        case SIGINT:
        case SIGQUIT:
          if (watched.job != nullptr && sent_to_us_alone(info)) watched.job->send(signal);
          if (interrupts.came(wall.now()) || watched.job == nullptr) {
            outcome.interrupted = true;
            waiting = false;
          }
          break;
        case SIGTERM:
        case SIGHUP:
          if (watched.job == nullptr) {
            outcome.interrupted = true;
            waiting = false;
            break;
          }
          [[fallthrough]];
        case SIGUSR1:
        case SIGUSR2:
        case SIGCONT:
          if (watched.job != nullptr) watched.job->send(signal);
          break;
        case SIGTSTP:
          // From the terminal the job gets its own; from kill(1) it must be told.
          if (watched.job == nullptr)
            raise(SIGSTOP);
          else if (info.ssi_code == SI_USER)
            watched.job->send(signal);
          break;
        case SIGCHLD:  // looked at below
        case SIGPIPE:
        case SIGTTOU:
        case SIGTTIN:
          break;
        default:
          // Meant for the job, as SIGXCPU of a batch system, or an alarm that was set before rubato was
          // started; what the kernel tells of rubato itself is not.
          if (info.ssi_code > 0 && !is_alarm(signal)) break;
          if (watched.job != nullptr) {
            watched.job->send(signal);
          } else {
            outcome.interrupted = true;
            waiting = false;
          }
          break;
      }
    }

    if (watched.job != nullptr) {
      const JobStatus status = watched.job->poll();
      if (status.ended()) {
        outcome.job = status;
        waiting = false;
      } else {
        stop_with(*watched.job);  // for more than 5 s: the guard restores
      }
    }
    if (watched.deadline && clock_->now() >= *watched.deadline) waiting = false;
    if (other && other->ended()) waiting = false;
  }

  JobEnd end;
  if (outcome.job && outcome.job->state == JobStatus::State::exited) end.exit_code = outcome.job->code;
  if (outcome.job && outcome.job->state == JobStatus::State::killed) end.exit_signal = outcome.job->signal;
  if (meters_ != nullptr) outcome.meters_answered = meters_->finish();
  const auto waited = thread->finish(end, signals.get(), watched.disk_is_slow);
  outcome.session_finished = waited == EndPatience::Verdict::wait;
  outcome.disk_hangs = waited == EndPatience::Verdict::disk_hangs;
  // A stuck thread goes on using its own state until the process leaves.
  if (!outcome.session_finished) static_cast<void>(thread.release());
  return outcome;
}

}  // namespace rubato::conduct
