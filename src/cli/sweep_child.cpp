#include "cli/sweep_child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace rubato::cli {
namespace {

void read_what_is_there(int fd, std::string& into) {
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    into.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

int status_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace

Interrupts::Interrupts() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, &before_);
  fd_ = ScopedFd(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
}

Interrupts::~Interrupts() {
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

void Interrupts::take(pid_t tell) {
  signalfd_siginfo info{};
  while (read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) continue;
    asked_ = signal;
    // A run takes its first Ctrl-C for one that its job has heard as well, and waits.
    const bool job_heard = info.ssi_code != SI_USER;
    if (tell > 0 && !job_heard) kill(tell, signal == SIGHUP ? SIGHUP : SIGTERM);
  }
}

ChildEnd in_child(Interrupts& interrupts, const std::function<int(int say)>& body) {
  ChildEnd end{1, {}};
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return end;
  const ScopedFd hear(ends[0]);
  ScopedFd say(ends[1]);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return end;
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &interrupts.before(), nullptr);
    const int status = body(say.get());
    std::fflush(nullptr);
    _exit(status);
  }
  say.reset();
  fcntl(hear.get(), F_SETFL, O_NONBLOCK);
  int wait_status = 0;
  bool open = true;
  for (;;) {
    // A pipe whose writers are gone is always ready: from then on only the child's end is waited for.
    std::array<pollfd, 2> ready = {pollfd{interrupts.fd(), POLLIN, 0},
                                   pollfd{open ? hear.get() : -1, POLLIN, 0}};
    static_cast<void>(poll(ready.data(), ready.size(), -1));
    interrupts.take(child);
    if ((ready[1].revents & POLLIN) != 0) read_what_is_there(hear.get(), end.said);
    open = open && (ready[1].revents & POLLHUP) == 0;
    const pid_t ended = waitpid(child, &wait_status, WNOHANG);
    if (ended == child || (ended < 0 && errno == ECHILD)) break;
  }
  read_what_is_there(hear.get(), end.said);
  end.status = status_of(wait_status);
  return end;
}

void say_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace rubato::cli
