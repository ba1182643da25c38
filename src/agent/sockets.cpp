#include "agent/sockets.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/text.h"

namespace rubato::agent {
namespace {

constexpr int kBacklog = 512;

std::string numeric(const sockaddr* address, socklen_t length) {
  std::array<char, NI_MAXHOST> host{};
  if (getnameinfo(address, length, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) != 0) return {};
  return host.data();
}

void set(int socket, int level, int option, int value) {
  setsockopt(socket, level, option, &value, sizeof value);
}

Result<ScopedFd> bound(int family, const sockaddr* address, socklen_t length) {
  ScopedFd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return fail(from_errno(errno, "cannot open a TCP socket"));
  set(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (family == AF_INET6) set(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (bind(fd.get(), address, length) != 0 || listen(fd.get(), kBacklog) != 0)
    return fail(from_errno(errno, "cannot listen on a TCP port"));
  return fd;
}

Result<ScopedFd> listen_ipv4(std::uint16_t port, bool loopback) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(loopback ? INADDR_LOOPBACK : INADDR_ANY);
  return bound(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

}  // namespace

Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int code = getaddrinfo(host.c_str(), cat(port).c_str(), &wanted, &list);
  if (code != 0) {
    return fail(ErrorCode::unavailable, cat("the node '", host, "' is not known here: ", gai_strerror(code)),
                "name rank 0's node by --agents RANK/SIZE@HOST:PORT");
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
  std::vector<Address> out;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    Address address;
    if (one->ai_addrlen > sizeof address.storage) continue;
    std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
    address.length = one->ai_addrlen;
    address.text = numeric(one->ai_addr, one->ai_addrlen);
    out.push_back(std::move(address));
  }
  return out;
}

std::vector<std::string> own_addresses() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {"127.0.0.1"};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  std::vector<std::string> out;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    const bool four = one->ifa_addr->sa_family == AF_INET;
    if (!four && one->ifa_addr->sa_family != AF_INET6) continue;
    std::string text = numeric(one->ifa_addr, four ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    // A link's own address means nothing on another machine.
    if (!text.empty() && text.find('%') == std::string::npos) out.push_back(std::move(text));
  }
  out.emplace_back("127.0.0.1");
  return out;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "127.0.0.1" || host == "::1";
}

Result<ScopedFd> listen_on(std::uint16_t port, bool loopback) {
  if (loopback) return listen_ipv4(port, true);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  address.sin6_addr = in6addr_any;
  auto both = bound(AF_INET6, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (both) return both;
  return listen_ipv4(port, false);
}

std::uint16_t port_of(const ScopedFd& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

Result<ScopedFd> begin_connect(const Address& address) {
  ScopedFd fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return fail(from_errno(errno, "cannot open a TCP socket"));
  set(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  const auto* to = reinterpret_cast<const sockaddr*>(&address.storage);
  if (connect(fd.get(), to, address.length) != 0 && errno != EINPROGRESS)
    return fail(from_errno(errno, cat("cannot connect to ", address.text)));
  return fd;
}

bool write_some(int socket, std::string& bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.erase(0, static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == ENOTCONN;  // not yet connected: later
  }
  return true;
}

bool read_some(int socket, std::string& bytes, std::size_t most) {
  std::array<char, 16384> buffer{};
  for (std::size_t taken = 0; taken < most;) {
    const ssize_t got = ::recv(socket, buffer.data(), std::min(buffer.size(), most - taken), MSG_DONTWAIT);
    if (got > 0) {
      bytes.append(buffer.data(), static_cast<std::size_t>(got));
      taken += static_cast<std::size_t>(got);
      continue;
    }
    if (got == 0) return false;
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == ENOTCONN;
  }
  return true;
}

}  // namespace rubato::agent
