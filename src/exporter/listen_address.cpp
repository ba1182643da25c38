#include "exporter/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

#include "base/text.h"

namespace rubato::exporter {

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const auto wrong = [text](std::string_view why) {
    return fail(ErrorCode::invalid_argument, cat("cannot listen on '", text, "': ", why),
                "--listen 127.0.0.1:9836, or --listen [::1]:9836");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong("a port is missing");
  const auto port = parse_integer(text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) return wrong("the port is no number from 0 to 65535");
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);

  ListenAddress out;
  out.host = host == "localhost" ? "127.0.0.1" : std::string(host);
  out.port = static_cast<std::uint16_t>(*port);
  sockaddr_in four{};
  sockaddr_in6 six{};
  if (!bracketed && inet_pton(AF_INET, out.host.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(out.port);
    std::memcpy(&out.address, &four, sizeof four);
    out.size = sizeof four;
    out.loopback = (ntohl(four.sin_addr.s_addr) >> 24U) == 127;
    return out;
  }
  if (bracketed && inet_pton(AF_INET6, out.host.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(out.port);
    std::memcpy(&out.address, &six, sizeof six);
    out.size = sizeof six;
    out.loopback = IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
    return out;
  }
  return wrong("the host has to be an address in numbers, one of IPv6 in brackets");
}

std::string root_url_of(const ListenAddress& address, std::uint16_t port) {
  const bool six = address.host.find(':') != std::string::npos;
  return cat("http://", six ? "[" : "", address.host, six ? "]" : "", ":", port, "/");
}

std::string url_of(const ListenAddress& address, std::uint16_t port) {
  return root_url_of(address, port) + "metrics";
}

}  // namespace rubato::exporter
