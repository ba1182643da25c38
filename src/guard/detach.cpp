#include "guard/detach.h"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "wire/peer.h"

namespace rubato::guard {
namespace {

constexpr std::size_t kTokenLength = 32;

Result<std::string> read_token() {
  std::string token;
  std::array<char, kTokenLength> buffer{};
  while (token.size() < kTokenLength) {
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), kTokenLength - token.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(ErrorCode::invalid_argument, "standard input ends before the guard's token");
    token.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return token;
}

/// In the child; the parent waits until the child has its own session, then ends.
Status leave_parent() {
  std::array<int, 2> ready{};
  if (::pipe2(ready.data(), O_CLOEXEC) != 0) return fail(from_errno(errno, "cannot make a pipe"));
  ScopedFd hear(ready[0]);
  ScopedFd tell(ready[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail(from_errno(errno, "cannot fork the guard"));
  if (child == 0) {
    (void)::setsid();
    return {};
  }
  // sudo's terminal hangs up when its command ends: not before the child has left it.
  tell.reset();
  char byte = 0;
  while (::read(hear.get(), &byte, 1) < 0 && errno == EINTR) {
  }
  ::_exit(0);
}

/// From `first` to `last`. Only Linux 5.9 and newer do it in one call, which glibc names since 2.34.
void close_descriptors(unsigned first, unsigned last) {
  if (::syscall(SYS_close_range, first, last, 0U) == 0) return;
  // The folder is read to its end first: closing while reading could close the reader's own descriptor.
  std::vector<int> open;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end; !error && entry != end;
       entry.increment(error)) {
    const auto number = parse_integer(entry->path().filename().string());
    if (number && *number >= first && *number <= last) open.push_back(static_cast<int>(*number));
  }
  for (const int fd : open) (void)::close(fd);
}

}  // namespace

void detach_process(int keep) {
  (void)::setsid();  // fails only where this process leads its session already
  ::signal(SIGPIPE, SIG_IGN);
  ::umask(077);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (null >= 0 && fd != keep) (void)::dup2(null, fd);
  }
  constexpr unsigned kFirst = STDERR_FILENO + 1;
  const auto kept = static_cast<unsigned>(keep);
  if (keep < static_cast<int>(kFirst)) {
    close_descriptors(kFirst, ~0U);
    return;
  }
  if (kept > kFirst) close_descriptors(kFirst, kept - 1);
  close_descriptors(kept + 1, ~0U);
  (void)::fcntl(keep, F_SETFD, FD_CLOEXEC);
}

Result<ScopedFd> ending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    ::sigaddset(&set, number);
    // An inherited "ignore" (nohup, a background job) would swallow it before it is queued.
    ::signal(number, SIG_DFL);
  }
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0) return fail(from_errno(errno, "cannot block signals"));
  ScopedFd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.is_open()) return fail(from_errno(errno, "cannot listen to signals"));
  return fd;
}

Result<uid_t> peer_user(int socket) {
  const auto peer = wire::peer_of(socket);
  if (!peer) return fail(peer.error());
  return peer->uid;
}

Result<ConnectedBack> connect_back(const std::filesystem::path& path) {
  const char* named = std::getenv("SUDO_UID");
  const auto user = named == nullptr ? std::nullopt : parse_integer(named);
  if (!user) return fail(ErrorCode::no_permission, "a guard that connects back must be started through sudo");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.size() >= sizeof(address.sun_path)) {
    return fail(ErrorCode::invalid_argument, "the socket's path is too long: " + text);
  }
  std::copy(text.begin(), text.end(), address.sun_path);
  auto token = read_token();
  if (!token) return fail(token.error());
  if (const Status left = leave_parent(); !left) return fail(left.error());
  detach_process(-1);

  ScopedFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return fail(from_errno(errno, "cannot make a socket"));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return fail(from_errno(errno, "cannot connect to " + text));
  }
  const auto peer = peer_user(socket.get());
  if (!peer) return fail(peer.error());
  if (static_cast<std::int64_t>(*peer) != *user) {
    return fail(ErrorCode::no_permission,
                cat(text, " belongs to user ", *peer, "; sudo was asked by user ", *user));
  }
  return ConnectedBack{std::move(socket), std::move(*token)};
}

}  // namespace rubato::guard
