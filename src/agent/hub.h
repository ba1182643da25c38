// The leader's end: a TCP port, and a sealed stream for each member. Passive: it never waits; whoever has
// time waits until fd() is readable and calls poll().
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/roster.h"
#include "agent/seal.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace rubato::agent {

struct HubOptions {
  std::uint16_t port = 0;           // 0: any free one
  bool any_port = true;             // where `port` is taken
  bool loopback = false;            // nobody outside this machine
  Seconds handshake{10};            // until a connection has shown that it knows the secret
  std::size_t most_strangers = 64;  // connections that have not shown it yet; the oldest goes for a new one
  std::size_t most_members = 8192;
};

class Hub {
 public:
  struct Event {
    Peer peer = 0;
    bool closed = false;
    std::string message;  // where it was not closed
  };

  [[nodiscard]] static Result<Hub> listen(const Secret& secret, const HubOptions& options);

  [[nodiscard]] int fd() const { return epoll_.get(); }
  [[nodiscard]] std::uint16_t port() const;
  /// What has happened; of peers that have shown that they know the secret only.
  [[nodiscard]] std::vector<Event> poll(TimePoint now);
  void send(Peer peer, std::string_view message);
  /// Once all that was sent has left.
  void close(Peer peer);
  /// Connections that did not know the secret, or spoke something else.
  [[nodiscard]] std::int64_t strangers() const { return strangers_; }

 private:
  struct Connection {
    ScopedFd socket;
    SealedStream stream;
    std::string out;
    TimePoint since;
    bool closing = false;
    bool writing = false;  // epoll waits for room
  };
  Hub(const Secret& secret, const HubOptions& options) : secret_(secret), options_(options) {}

  void accept_all(TimePoint now);
  void read(Peer peer, std::vector<Event>& events);
  void flush(Peer peer, Connection& connection);
  void gone(Peer peer, std::vector<Event>* events);
  void drop_strangers(TimePoint now);

  Secret secret_;
  HubOptions options_;
  ScopedFd epoll_;
  ScopedFd listener_;
  std::map<Peer, Connection> connections_;
  std::vector<Peer> broken_;             // to be told as closed by the next poll()
  std::optional<TimePoint> deaf_until_;  // no descriptors were left
  Peer last_ = 0;
  std::int64_t strangers_ = 0;
};

}  // namespace rubato::agent
