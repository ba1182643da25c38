#include "wire/channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "base/text.h"
#include "wire/message.h"

namespace rubato::wire {
namespace {

tl::unexpected<Error> gone() {
  return fail(ErrorCode::unavailable, "the process at the other end of the lease socket is gone");
}

bool means_gone(int number) {
  return number == EPIPE || number == ECONNRESET || number == ENOTCONN;
}

}  // namespace

Status SocketChannel::send(std::string_view datagram) {
  for (;;) {
    // Not blocking: a stopped process at the other end must not stop this one.
    const ssize_t sent = ::send(socket_.get(), datagram.data(), datagram.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return {};
    if (errno == EINTR) continue;
    if (means_gone(errno)) return gone();
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return fail(ErrorCode::timeout,
                  "the process at the other end of the lease socket does not read its messages");
    }
    return fail(from_errno(errno, "cannot send a lease message"));
  }
}

Result<std::string> SocketChannel::receive(Seconds patience) {
  using WallClock = std::chrono::steady_clock;
  const auto deadline = WallClock::now() + std::chrono::duration_cast<WallClock::duration>(
                                               std::chrono::duration<double>(patience.value()));
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - WallClock::now()).count();
    pollfd waiting{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, left > 0 ? static_cast<int>(left) : 0);
    if (ready < 0 && errno != EINTR) return fail(from_errno(errno, "cannot wait on the lease socket"));
    if (ready < 0) continue;
    if (ready == 0) {
      return fail(ErrorCode::timeout, cat("no lease message came within ", patience));
    }
    std::array<char, kLargestMessage> buffer{};
    const ssize_t got =
        ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got == 0 || (got < 0 && means_gone(errno))) return gone();
    if (got < 0) return fail(from_errno(errno, "cannot receive a lease message"));
    const auto size = static_cast<std::size_t>(got);
    if (size > buffer.size()) {
      return fail(ErrorCode::corrupt,
                  cat("a lease message of ", size, " bytes came; at most ", buffer.size(), " are legal"));
    }
    return std::string(buffer.data(), size);
  }
}

Result<std::pair<ScopedFd, ScopedFd>> socket_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(from_errno(errno, "cannot make a socket pair"));
  }
  return std::pair{ScopedFd(ends[0]), ScopedFd(ends[1])};
}

}  // namespace rubato::wire
