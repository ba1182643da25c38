// Stands between a meter and its server and does to datagrams what bad networks and bad firmware do.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <thread>

#include "base/fd.h"

namespace rubato::meter::testing {

enum class Relaying { well, nothing, half, noise };

class UdpRelay {
 public:
  explicit UdpRelay(std::uint16_t server_port)
      : front_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)),
        back_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in any = address(0);
    socklen_t length = sizeof(any);
    const sockaddr_in server = address(server_port);
    if (::bind(front_.get(), reinterpret_cast<sockaddr*>(&any), length) != 0 ||
        ::getsockname(front_.get(), reinterpret_cast<sockaddr*>(&any), &length) != 0 ||
        ::connect(back_.get(), reinterpret_cast<const sockaddr*>(&server), sizeof(server)) != 0)
      throw std::runtime_error("no relay on loopback");
    port_ = ntohs(any.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~UdpRelay() {
    stop_ = true;
    thread_.join();
  }
  UdpRelay(const UdpRelay&) = delete;
  UdpRelay& operator=(const UdpRelay&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// From now on, for the server's answers.
  void relay(Relaying how) { how_ = how; }
  [[nodiscard]] int questions() const { return questions_; }

 private:
  static sockaddr_in address(std::uint16_t port) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a.sin_port = htons(port);
    return a;
  }

  void run() {
    std::array<char, 65536> packet{};
    sockaddr_in client{};
    while (!stop_) {
      std::array<pollfd, 2> waiting{pollfd{front_.get(), POLLIN, 0}, pollfd{back_.get(), POLLIN, 0}};
      if (::poll(waiting.data(), waiting.size(), 50) <= 0) continue;
      if ((waiting[0].revents & POLLIN) != 0) {
        socklen_t length = sizeof(client);
        const auto got = ::recvfrom(front_.get(), packet.data(), packet.size(), 0,
                                    reinterpret_cast<sockaddr*>(&client), &length);
        if (got > 0) static_cast<void>(::send(back_.get(), packet.data(), static_cast<std::size_t>(got), 0));
        ++questions_;
      }
      if ((waiting[1].revents & (POLLIN | POLLERR)) != 0) {
        auto got = ::recv(back_.get(), packet.data(), packet.size(), MSG_DONTWAIT);
        if (got <= 0 || how_ == Relaying::nothing) continue;  // an error: the server is gone
        if (how_ == Relaying::half) got /= 2;
        if (how_ == Relaying::noise)
          for (int i = 0; i < got; ++i) packet[static_cast<std::size_t>(i)] = static_cast<char>(i * 37 + 11);
        static_cast<void>(::sendto(front_.get(), packet.data(), static_cast<std::size_t>(got), 0,
                                   reinterpret_cast<sockaddr*>(&client), sizeof(client)));
      }
    }
  }

  ScopedFd front_, back_;
  std::uint16_t port_ = 0;
  std::atomic<Relaying> how_{Relaying::well};
  std::atomic<int> questions_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace rubato::meter::testing
