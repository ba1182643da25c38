#include "daemon/listener.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "guard/files.h"
#include "wire/connect.h"

namespace rubato::daemon {
namespace {

// Who waits to be let in while this process is at something else.
constexpr int kBacklog = 512;

/// Held as long as rubatod lives, so that a socket somebody listens at is never taken away from them.
Result<ScopedFd> sole_listener(const std::filesystem::path& path) {
  const auto folder = guard::Folder::open(path.parent_path(), std::make_shared<guard::FileOps>());
  if (!folder) return fail(folder.error());
  auto lock = folder->open_file(path.filename().string() + ".lock", O_RDWR | O_CREAT);
  if (!lock) return lock;
  if (const Status held = folder->files().lock(lock->get()); !held) {
    if (held.error().code != ErrorCode::busy) return fail(held.error());
    return fail(ErrorCode::busy, cat("another rubatod listens at ", path.string()),
                "systemctl status rubatod; or another --socket");
  }
  return lock;
}

}  // namespace

Result<Listener> Listener::open(const std::filesystem::path& path, mode_t mode) {
  const auto address = wire::socket_address(path);
  if (!address) return fail(address.error());
  auto lock = sole_listener(path);
  if (!lock) return fail(lock.error());
  ScopedFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return fail(from_errno(errno, "cannot make a socket"));
  (void)::unlink(path.c_str());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) != 0)
    return fail(from_errno(errno, cat("cannot listen at ", path.string())));
  if (::chmod(path.c_str(), mode) != 0 || ::listen(socket.get(), kBacklog) != 0)
    return fail(from_errno(errno, cat("cannot listen at ", path.string())));
  return Listener(path, std::move(*lock), std::move(socket));
}

Listener::~Listener() {
  if (lock_.is_open()) (void)::unlink(path_.c_str());
}

std::optional<Accepted> Listener::accept() const {
  for (;;) {
    ScopedFd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return std::nullopt;
    }
    auto peer = wire::peer_of(socket.get());
    if (peer) return Accepted{std::move(socket), std::move(*peer)};
  }
}

}  // namespace rubato::daemon
