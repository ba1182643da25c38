// Where to listen, as typed: "127.0.0.1:9836", "[::1]:9836", "0.0.0.0:0".
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rubato::exporter {

struct ListenAddress {
  sockaddr_storage address{};
  socklen_t size = 0;
  std::string host;        // as typed, without brackets
  std::uint16_t port = 0;  // 0: the kernel chooses
  bool loopback = false;   // nobody but this machine can reach it
};

/// A numeric address and a port; `localhost` is 127.0.0.1. No name is looked up. Errors: invalid_argument.
[[nodiscard]] Result<ListenAddress> parse_listen_address(std::string_view text);

/// "http://127.0.0.1:9836/", with brackets where the host needs them.
[[nodiscard]] std::string root_url_of(const ListenAddress& address, std::uint16_t port);
/// "http://127.0.0.1:9836/metrics".
[[nodiscard]] std::string url_of(const ListenAddress& address, std::uint16_t port);

}  // namespace rubato::exporter
