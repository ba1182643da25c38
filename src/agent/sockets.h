// TCP as agents use it: never waiting, addresses resolved beforehand.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace rubato::agent {

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  std::string text;  // "192.0.2.7", for people
};

/// Asks the resolver, which may take seconds.
[[nodiscard]] Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port);
/// Addresses under which other nodes may reach this one; the loopback's last.
[[nodiscard]] std::vector<std::string> own_addresses();

/// "localhost", 127.0.0.1 or ::1: nobody outside this machine is meant.
[[nodiscard]] bool is_loopback(const std::string& host);
/// Port 0: any free one. On every interface, or on the loopback alone.
[[nodiscard]] Result<ScopedFd> listen_on(std::uint16_t port, bool loopback);
[[nodiscard]] std::uint16_t port_of(const ScopedFd& socket);
[[nodiscard]] Result<ScopedFd> begin_connect(const Address& address);

/// Writes what can be written now and takes it off `bytes`. False: the connection is gone.
[[nodiscard]] bool write_some(int socket, std::string& bytes);
/// Appends what has arrived, at most `most` bytes. False: the connection is gone.
[[nodiscard]] bool read_some(int socket, std::string& bytes, std::size_t most);

}  // namespace rubato::agent
