#include "agent/hub.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <utility>

#include "agent/message.h"
#include "agent/sockets.h"
#include "base/text.h"

namespace rubato::agent {
namespace {

// A member that reads nothing is no member.
constexpr std::size_t kMostWaiting = std::size_t{1} << 20U;
// Of one connection before others are looked at.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 16U;
constexpr Seconds kWithoutDescriptors{1};
// All that a stranger may send: greeting, nonce and the frame that shows what it knows.
constexpr std::size_t kMostOfStranger = kGreeting.size() + kNonceBytes + 4 + kLargestMessage + 16;

bool watch(int epoll, int operation, int fd, Peer peer, bool writing) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (writing) event.events |= EPOLLOUT;
  event.data.u64 = static_cast<std::uint64_t>(peer);
  return epoll_ctl(epoll, operation, fd, &event) == 0;
}

}  // namespace

Result<Hub> Hub::listen(const Secret& secret, const HubOptions& options) {
  if (const Status able = can_seal(); !able) return fail(able.error());
  Hub hub(secret, options);
  auto listener = listen_on(options.port, options.loopback);
  if (!listener && options.port != 0 && options.any_port) listener = listen_on(0, options.loopback);
  if (!listener) {
    return fail(listener.error().code,
                cat(listener.error().what, options.port == 0 ? "" : cat(" (", options.port, ")")),
                "choose another one: --agents RANK/SIZE@HOST:PORT");
  }
  hub.listener_ = std::move(*listener);
  hub.epoll_ = ScopedFd(epoll_create1(EPOLL_CLOEXEC));
  if (!hub.epoll_.is_open() || !watch(hub.epoll_.get(), EPOLL_CTL_ADD, hub.listener_.get(), kOwn, false))
    return fail(from_errno(errno, "cannot watch the agents' port"));
  return hub;
}

std::uint16_t Hub::port() const {
  return port_of(listener_);
}

void Hub::accept_all(TimePoint now) {
  for (;;) {
    ScopedFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open()) {
      // Without a descriptor the one that waits would be told of without end.
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, listener_.get(), nullptr);
        deaf_until_ = now + kWithoutDescriptors;
      }
      return;
    }
    drop_strangers(now);
    if (connections_.size() >= options_.most_members) continue;
    const Peer peer = ++last_;
    if (!watch(epoll_.get(), EPOLL_CTL_ADD, socket.get(), peer, false)) continue;
    Connection& made =
        connections_
            .emplace(peer,
                     Connection{.socket = std::move(socket),
                                .stream = SealedStream(SealedStream::Side::leader, secret_, fresh_nonce()),
                                .out = {},
                                .since = now})
            .first->second;
    flush(peer, made);
  }
}

// Peers are numbered in the order in which they came, so the first stranger is the oldest.
void Hub::drop_strangers(TimePoint now) {
  std::vector<Peer> waiting;
  for (const auto& [peer, connection] : connections_) {
    if (connection.stream.open()) continue;
    waiting.push_back(peer);
  }
  std::size_t left = waiting.size();
  for (const Peer peer : waiting) {
    const bool late = now - connections_.at(peer).since >= options_.handshake;
    if (!late && left < options_.most_strangers) break;
    --left;
    gone(peer, nullptr);
  }
}

void Hub::gone(Peer peer, std::vector<Event>* events) {
  const auto found = connections_.find(peer);
  if (found == connections_.end()) return;
  const bool known = found->second.stream.open();
  connections_.erase(found);
  if (!known)
    ++strangers_;
  else if (events != nullptr)
    events->push_back({peer, true, {}});
  else
    broken_.push_back(peer);
}

void Hub::read(Peer peer, std::vector<Event>& events) {
  const auto found = connections_.find(peer);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  std::string bytes;
  const std::size_t most = connection.stream.open() ? kMostAtOnce : kMostOfStranger;
  const bool alive = read_some(connection.socket.get(), bytes, most);
  auto messages = connection.stream.receive(bytes);
  if (messages && !connection.closing)
    for (auto& message : *messages) events.push_back({peer, false, std::move(message)});
  if (!alive || !messages) return gone(peer, &events);
  flush(peer, connection);
}

void Hub::flush(Peer peer, Connection& connection) {
  connection.out += connection.stream.take_output();
  // Where the other side has left, its last words may still be there to be read: the next poll() ends it.
  if (!write_some(connection.socket.get(), connection.out)) connection.out.clear();
  if (connection.out.size() > kMostWaiting || (connection.closing && connection.out.empty()))
    return gone(peer, nullptr);
  const bool writing = !connection.out.empty();
  if (writing == connection.writing) return;
  connection.writing = writing;
  watch(epoll_.get(), EPOLL_CTL_MOD, connection.socket.get(), peer, writing);
}

std::vector<Hub::Event> Hub::poll(TimePoint now) {
  std::vector<Event> events;
  std::array<epoll_event, 256> ready{};
  if (deaf_until_ && now >= *deaf_until_ && watch(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), kOwn, false))
    deaf_until_.reset();
  for (;;) {
    const int count = epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), 0);
    if (count <= 0) break;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const auto peer = static_cast<Peer>(ready[i].data.u64);
      if (peer == kOwn)
        accept_all(now);
      else if ((ready[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
        read(peer, events);
      else if (const auto found = connections_.find(peer); found != connections_.end())
        flush(peer, found->second);
    }
    if (count < static_cast<int>(ready.size())) break;
  }
  drop_strangers(now);
  for (const Peer peer : std::exchange(broken_, {})) events.push_back({peer, true, {}});
  return events;
}

void Hub::send(Peer peer, std::string_view message) {
  const auto found = connections_.find(peer);
  if (found == connections_.end() || found->second.closing) return;
  found->second.stream.send(message);
  flush(peer, found->second);
}

void Hub::close(Peer peer) {
  const auto found = connections_.find(peer);
  if (found == connections_.end()) return;
  found->second.closing = true;
  flush(peer, found->second);
}

}  // namespace rubato::agent
