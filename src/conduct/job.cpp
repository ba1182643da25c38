#include "conduct/job.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/fd.h"
#include "base/text.h"

namespace rubato::conduct {
namespace {

// The signals whose disposition rubato changes for itself.
constexpr std::array kTouched = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,  SIGUSR1, SIGUSR2, SIGPIPE,
                                 SIGCHLD, SIGTSTP, SIGCONT, SIGTTOU, SIGTTIN, SIGXFSZ};
// Of a job that somebody else has waited for.
constexpr int kUnknownStatus = 1;

std::array<struct sigaction, kTouched.size()> g_found{};
sigset_t g_found_mask{};

void give_back_signals() {
  for (std::size_t i = 0; i < kTouched.size(); ++i) sigaction(kTouched[i], &g_found[i], nullptr);
  sigprocmask(SIG_SETMASK, &g_found_mask, nullptr);
}

StartFailure start_failure(const std::string& program, int number) {
  StartFailure failure;
  failure.exit_code = number == ENOENT ? 127 : 126;
  failure.error = from_errno(number, cat("cannot run '", program, "'"));
  failure.error.hint = number == ENOENT ? "check the spelling, or give the full path; nothing was started"
                                        : "is it executable? nothing was started";
  return failure;
}

}  // namespace

void remember_signals() {
  for (std::size_t i = 0; i < kTouched.size(); ++i) sigaction(kTouched[i], nullptr, &g_found[i]);
  sigprocmask(SIG_SETMASK, nullptr, &g_found_mask);
  // A record that may not grow (ulimit -f) is a full disk, and no end of the run.
  ::signal(SIGXFSZ, SIG_IGN);
  // Where children that end are ignored, as some daemons leave it, nobody could learn how the job ended.
  ::signal(SIGCHLD, SIG_DFL);
}

tl::expected<Job, StartFailure> Job::start(
    const std::vector<std::string>& command,
    const std::vector<std::pair<std::string, std::string>>& environment) {
  // The pipe closes by itself when exec works, and carries errno when it does not.
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return tl::unexpected(start_failure(command.front(), errno));
  ScopedFd reader(ends[0]);
  ScopedFd writer(ends[1]);

  std::vector<std::string> words = command;  // execvp asks for text that it might change
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  const pid_t pid = fork();
  if (pid < 0) return tl::unexpected(start_failure(command.front(), errno));
  if (pid == 0) {
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    give_back_signals();
    execvp(arguments[0], arguments.data());
    const int number = errno;
    [[maybe_unused]] const ssize_t written = write(writer.get(), &number, sizeof number);
    _exit(number == ENOENT ? 127 : 126);
  }

  writer.reset();
  int number = 0;
  ssize_t got = 0;
  while ((got = read(reader.get(), &number, sizeof number)) < 0 && errno == EINTR) {
  }
  if (got == sizeof number) {
    waitpid(pid, nullptr, 0);
    return tl::unexpected(start_failure(command.front(), number));
  }
  return Job(pid);
}

JobStatus Job::poll() {
  while (!status_.ended()) {
    int raw = 0;
    const pid_t changed = waitpid(pid_, &raw, WNOHANG | WUNTRACED | WCONTINUED);
    if (changed < 0 && errno == EINTR) continue;
    if (changed < 0 && errno == ECHILD) status_ = {JobStatus::State::exited, kUnknownStatus, 0};
    if (changed != pid_) break;
    if (WIFEXITED(raw))
      status_ = {JobStatus::State::exited, WEXITSTATUS(raw), 0};
    else if (WIFSIGNALED(raw))
      status_ = {JobStatus::State::killed, 0, WTERMSIG(raw)};
    else if (WIFSTOPPED(raw))
      status_ = {JobStatus::State::stopped, 0, WSTOPSIG(raw)};
    else if (WIFCONTINUED(raw))
      status_ = {};
  }
  return status_;
}

void Job::send(int signal) const {
  if (!status_.ended()) kill(pid_, signal);
}

void stop_with(Job& job) {
  const JobStatus status = job.poll();
  if (status.state != JobStatus::State::stopped || status.signal == SIGSTOP) return;
  if (!ScopedFd(open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)).is_open()) return;
  raise(SIGSTOP);
  if (job.poll().state == JobStatus::State::stopped) job.send(SIGCONT);
}

bool sent_to_us_alone(const signalfd_siginfo& info) {
  // Of a sender in another namespace of processes no number is told.
  const auto sender = static_cast<pid_t>(info.ssi_pid);
  return info.ssi_code == SI_USER && (sender == 0 || getpgid(sender) != getpgrp());
}

}  // namespace rubato::conduct
