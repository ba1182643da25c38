// HOST[:PORT] as users type it, and its numeric address: found once, when a meter is opened, because a name
// server that stopped answering would hold up every later read().
#pragma once

#include <netdb.h>
#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"

namespace rubato::meter {

struct Endpoint {
  std::string host;  // without the brackets of an IPv6 address
  std::uint16_t port = 0;
  [[nodiscard]] std::string text() const {
    return host.find(':') == std::string::npos ? cat(host, ":", port) : cat("[", host, "]:", port);
  }
};

/// "pdu-3", "pdu-3:1161", "[fe80::1]:161".
[[nodiscard]] inline Result<Endpoint> parse_endpoint(std::string_view text, std::uint16_t usual_port) {
  const auto bad = [&] {
    return fail(ErrorCode::invalid_argument, cat("'", text, "' names no host, needed HOST or HOST:PORT"),
                "an IPv6 address goes in brackets: [fe80::1]:161");
  };
  std::string_view host = text;
  std::optional<std::string_view> port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return bad();
    host = text.substr(1, end - 1);
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && rest[0] != ':') return bad();
    if (!rest.empty()) port = rest.substr(1);
  } else if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  if (host.empty()) return bad();
  Endpoint endpoint{std::string(host), usual_port};
  if (port) {
    const auto number = parse_integer(*port);
    if (!number || *number < 1 || *number > 65535) return bad();
    endpoint.port = static_cast<std::uint16_t>(*number);
  }
  return endpoint;
}

/// The first address of the host, in digits.
[[nodiscard]] inline Result<Endpoint> numeric(const Endpoint& endpoint, int socket_type) {
  addrinfo wanted{};
  wanted.ai_socktype = socket_type;
  wanted.ai_family = AF_UNSPEC;
  addrinfo* raw = nullptr;
  const int failed = ::getaddrinfo(endpoint.host.c_str(), nullptr, &wanted, &raw);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> found(raw, [](addrinfo* a) {
    if (a != nullptr) ::freeaddrinfo(a);
  });
  char digits[NI_MAXHOST] = {};
  if (failed != 0 || !found ||
      ::getnameinfo(found->ai_addr, found->ai_addrlen, digits, sizeof(digits), nullptr, 0, NI_NUMERICHOST) !=
          0)
    return fail(ErrorCode::unavailable,
                cat("no address is known for the host '", endpoint.host,
                    "': ", failed != 0 ? ::gai_strerror(failed) : "it has none"),
                cat("getent hosts ", endpoint.host));
  return Endpoint{digits, endpoint.port};
}

}  // namespace rubato::meter
