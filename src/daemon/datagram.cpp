#include "daemon/datagram.h"

#include <sys/socket.h>

#include <array>
#include <cstring>
#include <ctime>

#include "base/fd.h"

namespace rubato::daemon {
namespace {

/// Nobody was asked for descriptors.
void close_all(cmsghdr& rights) {
  for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= rights.cmsg_len; at += sizeof(int)) {
    int fd = -1;
    std::memcpy(&fd, reinterpret_cast<const char*>(&rights) + at, sizeof fd);
    (void)ScopedFd(fd);
  }
}

std::optional<Seconds> since_sent(cmsghdr& stamp) {
  timespec sent{};
  std::memcpy(&sent, CMSG_DATA(&stamp), sizeof sent);
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const Seconds queued(static_cast<double>(now.tv_sec - sent.tv_sec) +
                       static_cast<double>(now.tv_nsec - sent.tv_nsec) * 1e-9);
  return queued >= Seconds(0) ? std::optional(queued) : std::nullopt;
}

}  // namespace

void stamp_arrivals(int socket) {
  const int on = 1;
  (void)::setsockopt(socket, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
}

Datagram receive(int socket, std::span<char> buffer) {
  iovec bytes{.iov_base = buffer.data(), .iov_len = buffer.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(timespec))> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  Datagram got{.size = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC)};
  if (got.size <= 0) return got;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET) continue;
    if (part->cmsg_type == SCM_RIGHTS) close_all(*part);
    if (part->cmsg_type == SCM_TIMESTAMPNS) got.queued = since_sent(*part);
  }
  return got;
}

}  // namespace rubato::daemon
