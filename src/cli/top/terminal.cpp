#include "cli/top/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "cli/top/terminal_text.h"

namespace rubato::cli::top {
namespace {

constexpr int kLeavePatienceMs = 500;
constexpr std::array kFatal = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

// For the handler alone, which may use nothing else.
volatile std::sig_atomic_t g_fd = -1;
termios g_found{};

void put_back_and_die(int signal) {
  if (g_fd >= 0) {
    [[maybe_unused]] const ssize_t written = write(g_fd, kLeaveScreen.data(), kLeaveScreen.size());
    tcsetattr(g_fd, TCSANOW, &g_found);
  }
  raise(signal);  // by default again (SA_RESETHAND)
}

void guard_fatal_signals(bool on) {
  struct sigaction action {};
  action.sa_handler = on ? &put_back_and_die : SIG_DFL;
  action.sa_flags = on ? static_cast<int>(SA_RESETHAND | SA_NODEFER) : 0;
  sigemptyset(&action.sa_mask);
  for (const int signal : kFatal) sigaction(signal, &action, nullptr);
}

}  // namespace

Result<Terminal> Terminal::open(int fd) {
  std::array<char, 256> name{};
  if (ttyname_r(fd, name.data(), name.size()) != 0) return fail(from_errno(errno, "no terminal"));
  constexpr int kHow = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
  ScopedFd own(::open(name.data(), kHow));
  // In a container the name may be one of the host's.
  if (!own.is_open()) own.reset(::open("/dev/tty", kHow));
  if (!own.is_open()) return fail(from_errno(errno, "cannot open the terminal"));
  return Terminal(std::move(own));
}

Terminal::~Terminal() {
  leave();
}

Size Terminal::size() const {
  winsize size{};
  if (ioctl(fd_.get(), TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_row, size.ws_col};
}

bool Terminal::foreground() const {
  const pid_t group = tcgetpgrp(fd_.get());
  // A terminal that is not this session's has no foreground to be in.
  return group < 0 || group == getpgrp();
}

Status Terminal::enter() {
  termios found{};
  if (tcgetattr(fd_.get(), &found) != 0) return fail(from_errno(errno, "cannot read the terminal's modes"));
  termios raw = found;
  raw.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IXON);
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  g_found = found;
  g_fd = fd_.get();
  guard_fatal_signals(true);
  if (tcsetattr(fd_.get(), TCSANOW, &raw) != 0)
    return fail(from_errno(errno, "cannot set the terminal's modes"));
  found_ = found;
  pending_.clear();
  sent_ = 0;
  send(std::string(kEnterScreen));
  return {};
}

void Terminal::leave() {
  if (!found_) return;
  // Stopped and continued in the background the terminal is another job's, and so are its modes.
  if (foreground()) {
    // A frame cut short ends where the next escape begins.
    send(std::string(kLeaveScreen));
    pollfd ready{fd_.get(), POLLOUT, 0};
    while (busy() && poll(&ready, 1, kLeavePatienceMs) > 0 && (ready.revents & POLLOUT) != 0) go_on();
    tcsetattr(fd_.get(), TCSANOW, &*found_);
  }
  found_.reset();
  guard_fatal_signals(false);
  g_fd = -1;
}

void Terminal::send(std::string frame) {
  pending_ = std::move(frame);
  sent_ = 0;
  go_on();
}

void Terminal::go_on() {
  while (busy()) {
    const ssize_t written = write(fd_.get(), pending_.data() + sent_, pending_.size() - sent_);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return;
    // A terminal that is gone is noticed where keys are read.
    sent_ = written > 0 ? sent_ + static_cast<std::size_t>(written) : pending_.size();
  }
}

std::optional<std::string> Terminal::read_keys() const {
  std::array<char, 512> buffer{};
  const ssize_t got = read(fd_.get(), buffer.data(), buffer.size());
  if (got > 0) return std::string(buffer.data(), static_cast<std::size_t>(got));
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::string();
  // With VMIN 0 a read of nothing is no end: only a terminal that hung up says so again when asked.
  pollfd gone{fd_.get(), POLLIN, 0};
  if (poll(&gone, 1, 0) > 0 && (gone.revents & (POLLHUP | POLLERR)) != 0) return std::nullopt;
  return std::string();
}

}  // namespace rubato::cli::top
