#include "daemon/server.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "base/log.h"
#include "base/text.h"
#include "daemon/datagram.h"
#include "daemon/notify.h"

namespace rubato::daemon {
namespace {

// What a wake-up is about; connections come behind.
constexpr std::uint64_t kListener = 0;
constexpr std::uint64_t kSignals = 1;
constexpr std::uint64_t kMailbox = 2;
constexpr std::uint64_t kFirstConnection = 16;

// No more of one kind in a turn, so that nobody waits for a flood.
constexpr int kMostAccepted = 32;
constexpr int kMostEvents = 256;

// The disable file has to act within a second. Wall time, as all in here.
constexpr Seconds kLookAround{0.2};
constexpr Seconds kShortestTurn{5e-3};
constexpr Seconds kNeverPeriod{1.0};
constexpr Seconds kSignPeriod{1.0};
// Until who started us is told that we are ready even where a GPU does not answer.
constexpr Seconds kStartPatience{4.5};
// For restoring at the end; the unit's TimeoutStopSec is longer.
constexpr Seconds kEndPatience{10.0};

std::size_t connections_by_files() {
  constexpr rlim_t kForTheRest = 128;  // the driver's, the journals, this loop's own
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur <= 2 * kForTheRest) return kForTheRest;
  return static_cast<std::size_t>(files.rlim_cur - kForTheRest);
}

}  // namespace

Server::Server(ServerOptions options, Listener listener, ScopedFd signals, std::shared_ptr<Mailbox> mailbox)
    : options_(std::move(options)),
      listener_(std::move(listener)),
      signals_(std::move(signals)),
      mailbox_(std::move(mailbox)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      last_id_(kFirstConnection),
      begun_(wall_.now()),
      most_connections_(connections_by_files()) {
  watch(listener_.fd(), kListener, EPOLLIN, EPOLL_CTL_ADD);
  watch(signals_.get(), kSignals, EPOLLIN, EPOLL_CTL_ADD);
  watch(mailbox_->fd(), kMailbox, EPOLLIN, EPOLL_CTL_ADD);
}

void Server::watch(int fd, std::uint64_t id, std::uint32_t events, int operation) const {
  epoll_event event{.events = events, .data = {.u64 = id}};
  (void)::epoll_ctl(epoll_.get(), operation, fd, &event);
}

Ended Server::run(Core& core) {
  std::optional<TimePoint> ending;
  std::array<epoll_event, kMostEvents> events{};
  for (;;) {
    const Seconds turn = std::clamp(options_.clock->wall(Seconds(0.25)), kShortestTurn, kLookAround);
    const int ready =
        ::epoll_wait(epoll_.get(), events.data(), kMostEvents, static_cast<int>(turn.value() * 1e3));
    bool asked_to_end = false;
    users_.begin_turn(wall_.now());
    for (int i = 0; i < std::max(ready, 0); ++i) {
      const std::uint64_t id = events[static_cast<std::size_t>(i)].data.u64;
      if (id == kSignals)
        asked_to_end = take_signals(core);
      else if (id >= kFirstConnection)
        read_from(core, id);
    }
    // Everything that has come goes before the clock is looked at: a daemon that was stopped for a minute
    // finds the heartbeats of that minute in its sockets.
    for (Answered& answer : mailbox_->take())
      core.answered(answer.ticket, std::move(answer.outcome), options_.clock->now(), answer.spent);
    let_in(core);
    look_around(core);
    if (asked_to_end) core.stop("it was asked to", options_.clock->now());
    if (!ending && (asked_to_end || surroundings_.disabled)) {
      ending = wall_.now() + kEndPatience;
      tell_service_manager("STOPPING=1");
    }
    core.step(surroundings_, options_.clock->now());
    if (wall_.now() >= next_sign_) {
      next_sign_ = wall_.now() + kSignPeriod;
      core.give_signs_of_life();
      tell_service_manager("WATCHDOG=1");
    }
    send_all(core);
    resume();
    tell_manager(core);
    const bool nothing_runs = core.idle() && core.prepared();
    if (ending && nothing_runs && core.all_back()) return Ended::clean;
    if (ending && wall_.now() >= *ending) return nothing_runs ? Ended::changed : Ended::stuck;
  }
}

bool Server::may_enter(const Core& core, uid_t uid) const {
  // Without a free descriptor nobody could even be turned away.
  if (connections_.size() >= most_connections_) return false;
  if (uid == 0) return true;
  const Rates& rates = core.rules().rates;
  return connections_.size() < rates.connections && users_.connections(uid) < rates.connections_per_user;
}

void Server::let_in(Core& core) {
  for (int i = 0; i < kMostAccepted; ++i) {
    auto accepted = listener_.accept();
    if (!accepted) return;
    const uid_t uid = accepted->peer.uid;
    if (!may_enter(core, uid)) {
      const std::string no = wire::encode(
          {0,
           wire::Refused{{ErrorCode::busy, cat("user ", uid, " has too many connections to rubatod"), {}}}});
      (void)::send(accepted->socket.get(), no.data(), no.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      continue;
    }
    const std::uint64_t id = ++last_id_;
    stamp_arrivals(accepted->socket.get());
    watch(accepted->socket.get(), id, EPOLLIN, EPOLL_CTL_ADD);
    const Rates& rates = core.rules().rates;
    users_.came(uid, rates.user_messages_per_s, wall_.now());
    connections_.emplace(
        id, Connection{std::move(accepted->socket), uid, RateLimit(rates.messages_per_s, wall_.now())});
    core.connected(id, caller_of(accepted->peer, options_.root), options_.clock->now());
  }
}

void Server::read_from(Core& core, std::uint64_t id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  std::array<char, wire::kLargestMessage> buffer{};
  // What a turn leaves wakes the next one.
  for (unsigned i = 0; users_.in_turn(connection.uid, i); ++i) {
    const TimePoint now = wall_.now();
    const TimePoint next = std::max(connection.messages.next(now), users_.next(connection.uid, now));
    if (!connection.paused && next > now) {
      // What more it sends fills its own socket, and then it waits.
      connection.paused = true;
      connection.until = next;
      watch(connection.socket.get(), id, 0, EPOLL_CTL_MOD);
    }
    if (connection.paused) {
      char byte = 0;
      // Woken all the same: the other end is gone.
      if (::recv(connection.socket.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0) drop(core, id);
      return;
    }
    const Datagram got = receive(connection.socket.get(), buffer);
    if (got.size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got.size <= 0) return drop(core, id);
    (void)connection.messages.take(now);
    users_.was_read(connection.uid, i, now);
    const auto size = static_cast<std::size_t>(got.size);
    // Longer than legal: what cannot be read is garbage like any other.
    core.received(id, size > buffer.size() ? std::string_view() : std::string_view(buffer.data(), size),
                  options_.clock->now(), got.queued);
  }
}

void Server::resume() {
  const TimePoint now = wall_.now();
  for (auto& [id, connection] : connections_) {
    if (!connection.paused || now < connection.until) continue;
    connection.paused = false;
    watch(connection.socket.get(), id, EPOLLIN, EPOLL_CTL_MOD);
  }
}

void Server::drop(Core& core, std::uint64_t id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  users_.left(found->second.uid, wall_.now());
  connections_.erase(found);  // closing takes it out of epoll
  core.disconnected(id, options_.clock->now());
}

void Server::send_all(Core& core) {
  for (const Outgoing& message : core.take_outgoing()) {
    const auto found = connections_.find(message.to);
    if (found == connections_.end()) continue;
    bool lost = false;
    if (!message.datagram.empty())
      lost = ::send(found->second.socket.get(), message.datagram.data(), message.datagram.size(),
                    MSG_NOSIGNAL | MSG_DONTWAIT) < 0;
    if (!lost) core.sent(message);
    // Who does not read its replies has given up on them.
    if (lost || message.close) drop(core, message.to);
  }
}

void Server::look_around(Core& core) {
  surroundings_.disabled = is_disabled(options_.root, options_.disable_file);
  const TimePoint now = wall_.now();
  if (now < next_never_) return;
  next_never_ = now + kNeverPeriod;
  surroundings_.never = what_forbids(options_.root, core.rules().never, ::geteuid());
}

bool Server::take_signals(Core& core) {
  bool end = false;
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo != SIGHUP) {
      end = true;
      continue;
    }
    auto rules = options_.read_rules();
    if (rules) {
      core.use_rules(std::move(*rules), options_.clock->now());
      log::info("rubatod reads its rules anew");
    } else {
      log::error(Error{rules.error().code, cat(rules.error().what, "; the rules in force stay"),
                       rules.error().hint});
    }
  }
  return end;
}

void Server::tell_manager(const Core& core) {
  if (ready_told_ || (!core.prepared() && wall_.now() - begun_ < kStartPatience)) return;
  ready_told_ = true;
  tell_service_manager("READY=1");
}

}  // namespace rubato::daemon
