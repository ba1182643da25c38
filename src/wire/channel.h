// How datagrams travel: a Unix socket between processes, a function call in virtual time.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "base/units.h"

namespace rubato::wire {

class Channel {
 public:
  virtual ~Channel() = default;
  /// unavailable: the other end is gone.
  [[nodiscard]] virtual Status send(std::string_view datagram) = 0;
  /// Waits at most `patience` of wall time. timeout: nothing came; unavailable: the other end is gone.
  [[nodiscard]] virtual Result<std::string> receive(Seconds patience) = 0;
};

/// SOCK_SEQPACKET; never raises SIGPIPE.
class SocketChannel final : public Channel {
 public:
  explicit SocketChannel(ScopedFd socket) : socket_(std::move(socket)) {}
  [[nodiscard]] Status send(std::string_view datagram) override;
  [[nodiscard]] Result<std::string> receive(Seconds patience) override;
  [[nodiscard]] int fd() const { return socket_.get(); }

 private:
  ScopedFd socket_;
};

/// Two connected, close-on-exec SOCK_SEQPACKET sockets.
[[nodiscard]] Result<std::pair<ScopedFd, ScopedFd>> socket_pair();

}  // namespace rubato::wire
