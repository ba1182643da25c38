#include "guard/launch_sudo.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"
#include "guard/detach.h"
#include "guard/spawn.h"

namespace rubato::guard {
namespace {

constexpr int kPatienceMs = 30'000;

Result<std::string> random_token() {
  std::array<std::uint64_t, 2> words{};
  // By number: glibc names it since 2.25 only.
  if (::syscall(SYS_getrandom, words.data(), sizeof(words), 0) != static_cast<long>(sizeof(words))) {
    return fail(from_errno(errno, "cannot get random bytes"));
  }
  return hex(words[0], 16) + hex(words[1], 16);
}

/// Removes the socket's name when it is no longer needed, whatever happened.
struct Listener {
  ScopedFd socket;
  std::string path;
  Listener(ScopedFd s, std::string p) : socket(std::move(s)), path(std::move(p)) {}
  Listener(Listener&& other) noexcept
      : socket(std::move(other.socket)), path(std::exchange(other.path, std::string())) {}
  Listener& operator=(Listener&&) = delete;
  ~Listener() {
    if (!path.empty()) (void)::unlink(path.c_str());
  }
};

Result<Listener> listen_in(const std::filesystem::path& folder, const std::string& unguessable) {
  Listener listener(ScopedFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)), "");
  if (!listener.socket.is_open()) return fail(from_errno(errno, "cannot make a socket"));
  const std::string path = (folder / cat("guard-", ::getpid(), "-", unguessable, ".sock")).string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return fail(ErrorCode::invalid_argument,
                cat("the socket's path has ", path.size(), " bytes, too many: ", path),
                "set XDG_RUNTIME_DIR to a shorter path");
  }
  std::copy(path.begin(), path.end(), address.sun_path);
  const mode_t before = ::umask(0177);
  const int bound =
      ::bind(listener.socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const int number = errno;
  ::umask(before);
  if (bound != 0) return fail(from_errno(number, "cannot make the socket " + path));
  listener.path = path;
  if (::listen(listener.socket.get(), 1) != 0) return fail(from_errno(errno, "cannot listen on " + path));
  return listener;
}

Result<ScopedFd> accept_root(const Listener& listener) {
  pollfd waiting{.fd = listener.socket.get(), .events = POLLIN, .revents = 0};
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, kPatienceMs);
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) {
    return fail(ErrorCode::timeout,
                cat("the guard started through sudo has not connected within ", kPatienceMs / 1000, " s"));
  }
  ScopedFd socket(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.is_open()) return fail(from_errno(errno, "cannot accept the guard's connection"));
  const auto peer = peer_user(socket.get());
  if (!peer) return fail(peer.error());
  if (*peer != 0) {
    return fail(ErrorCode::no_permission,
                cat("user ", *peer, " connected in place of the guard, which is root"));
  }
  return socket;
}

}  // namespace

Result<SudoLink> start_through_sudo(const std::string& sudo, std::vector<std::string> command,
                                    const std::filesystem::path& folder) {
  const auto asking = spawn({.command = {sudo, "-v"}, .detached = false});
  if (!asking) return fail(asking.error());
  if (!wait_for_success(*asking)) {
    return fail(ErrorCode::no_permission, "sudo did not grant the right to start the guard",
                "run without --sudo to measure only");
  }
  auto token = random_token();
  if (!token) return fail(token.error());
  const auto salt = random_token();
  if (!salt) return fail(salt.error());
  const auto listener = listen_in(folder, salt->substr(0, 8));
  if (!listener) return fail(listener.error());
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(from_errno(errno, "cannot make a pipe"));
  const ScopedFd hear(ends[0]);
  ScopedFd tell(ends[1]);
  command.insert(command.begin(), sudo);
  command.insert(command.end(), {"--connect", listener->path, "--token-stdin"});
  // In this session: sudo's ticket belongs to the terminal it was given on.
  const auto child = spawn({.command = std::move(command), .stdin_fd = hear.get(), .detached = false});
  if (!child) return fail(child.error());
  // A pipe holds it whole, so this cannot block; no reader yet is no SIGPIPE, because `hear` is open here
  // too.
  if (::write(tell.get(), token->data(), token->size()) != static_cast<ssize_t>(token->size())) {
    return fail(from_errno(errno, "cannot hand the guard its token"));
  }
  tell.reset();
  if (!wait_for_success(*child)) {
    return fail(ErrorCode::unavailable, "sudo could not start the guard", "look at what it printed above");
  }
  auto socket = accept_root(*listener);
  if (!socket) return fail(socket.error());
  return SudoLink{std::move(*socket), std::move(*token)};
}

}  // namespace rubato::guard
