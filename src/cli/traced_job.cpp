#include "cli/traced_job.h"

#include <poll.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <map>
#include <optional>
#include <set>

#include "base/clock.h"
#include "base/fd.h"
#include "base/process_tree.h"
#include "base/text.h"
#include "conduct/interrupts.h"
#include "conduct/live_driver.h"
#include "conduct/ownership.h"

namespace rubato::cli {
namespace {

constexpr int kLookMs = 100;
constexpr Seconds kPatience{10};  // between SIGTERM and SIGKILL

std::optional<pid_t> number_in(std::string_view text) {
  pid_t out = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (wrong != std::errc() || end != text.data() + text.size()) return {};
  return out;
}

bool carries(pid_t pid, const std::string& entry, const FsRoot& root) {
  const auto environment = root.read(cat("/proc/", pid, "/environ"));
  if (!environment) return false;
  const auto entries = split(*environment, '\0');
  return std::find(entries.begin(), entries.end(), entry) != entries.end();
}

void send_all(pid_t job, const std::string& run_id, int signal) {
  for (const pid_t pid : processes_of(job, run_id)) kill(pid, signal);
}

/// Signals for rubato that are meant for the job.
class Signals {
 public:
  Signals() {
    sigset_t set = conduct::taken_signals();
    for (const int signal : {SIGPIPE, SIGTSTP, SIGTTOU, SIGTTIN}) sigdelset(&set, signal);
    fd_ = ScopedFd(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  }
  /// Waits a little, and passes on what came. False: the second Ctrl-C, nobody waits any longer.
  bool pass_on(const conduct::Job& job) {
    pollfd ready{fd_.get(), POLLIN, 0};
    static_cast<void>(poll(&ready, 1, kLookMs));
    signalfd_siginfo info{};
    while (read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      const int signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGINT || signal == SIGQUIT) {
        if (info.ssi_code == SI_USER) job.send(signal);  // the terminal's reached the job as well
        given_up_ = given_up_ || interrupts_.came(RealClock().now());
      } else if (signal != SIGCHLD) {
        job.send(signal);
      }
    }
    return !given_up_;
  }

 private:
  ScopedFd fd_;
  conduct::Interrupts interrupts_;
  bool given_up_ = false;
};

}  // namespace

std::vector<pid_t> processes_of(pid_t pid, const std::string& run_id, const FsRoot& root) {
  const std::string entry = cat(conduct::kRunIdVariable, "=", run_id);
  std::map<pid_t, pid_t> parents;
  std::set<pid_t> ours{pid};
  std::error_code stop;
  for (std::filesystem::directory_iterator at(root.path("/proc"), stop), end; !stop && at != end;
       at.increment(stop)) {
    const auto one = number_in(at->path().filename().string());
    if (!one || *one == getpid()) continue;
    if (const auto parent = parent_of(root, *one)) parents[*one] = *parent;
    if (carries(*one, entry, root)) ours.insert(*one);
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [child, parent] : parents)
      if (ours.contains(parent)) grown = ours.insert(child).second || grown;
  }
  return {ours.begin(), ours.end()};
}

TracedEnd run_until(conduct::Job& job, const std::string& run_id, const std::function<bool()>& enough) {
  Signals signals;
  const RealClock clock;
  std::optional<TimePoint> told;
  TracedEnd out;
  for (;;) {
    const bool waiting = signals.pass_on(job);
    out.status = job.poll();
    if (out.status.ended() || !waiting) break;
    conduct::stop_with(job);
    if (!told && enough()) {
      send_all(job.pid(), run_id, SIGTERM);
      told = clock.now();
      out.by_us = true;
    } else if (told && clock.now() - *told > kPatience) {
      send_all(job.pid(), run_id, SIGKILL);
      told = clock.now();
    }
  }
  if (out.by_us) {  // what outlived its parent
    for (const pid_t pid : processes_of(job.pid(), run_id))
      if (pid != job.pid()) kill(pid, SIGTERM);
  }
  return out;
}

}  // namespace rubato::cli
