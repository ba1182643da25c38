// A client of a server on this machine, as bare as a socket.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace rubato::exporter::testing_data {

inline ScopedFd connected_to(std::uint16_t port) {
  ScopedFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(port);
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
  return fd;
}
inline void say(const ScopedFd& fd, std::string_view text) {
  EXPECT_EQ(send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
}
/// All that comes until `last` is in it, the server closes, or nothing comes for half a minute.
inline std::string hear(const ScopedFd& fd, std::string_view last = {}) {
  std::string text;
  std::array<char, 65536> buffer{};
  pollfd waiting{fd.get(), POLLIN, 0};
  while (poll(&waiting, 1, 30'000) > 0) {
    const ssize_t got = recv(fd.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (!last.empty() && text.find(last) != std::string::npos) return text;
  }
  ADD_FAILURE() << "nothing came for half a minute";
  return text;
}

}  // namespace rubato::exporter::testing_data
