#include "guard/process.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "guard/detach.h"
#include "guard/sign_of_life.h"
#include "guard/stale.h"
#include "guard/successor.h"
#include "wire/channel.h"

namespace rubato::guard {
namespace {

/// What a process needs once it stands alone.
struct Footing {
  wire::SocketChannel channel;
  ScopedFd signals;
  std::string token;
};

Result<Footing> stand_alone(const ProcessOptions& options) {
  ConnectedBack link{ScopedFd(options.socket_fd), {}};
  if (!options.connect_path.empty()) {
    auto connected = connect_back(options.connect_path);
    if (!connected) return fail(connected.error());
    link = std::move(*connected);
  } else {
    detach_process(options.socket_fd);
  }
  auto signals = ending_signals();
  if (!signals) return fail(signals.error());
  return Footing{wire::SocketChannel(std::move(link.socket)), std::move(*signals), std::move(link.token)};
}

/// While it still has the standard error of whoever started it.
int complain(const Error& error) {
  const std::string line = cat("rubato: error: ", error.what, "\n");
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  return 1;
}

/// How long poll() may sleep until `due`, in milliseconds; -1: for ever.
int patience_ms(const Clock& clock, TimePoint due) {
  if (due.ns == std::numeric_limits<std::int64_t>::max()) return -1;
  constexpr double kLongest = 60e3;
  const double ms = std::ceil(clock.wall(due - clock.now()).value() * 1e3);
  return static_cast<int>(std::clamp(ms, 0.0, kLongest));
}

/// False when it is time to end.
bool wait(const Footing& footing, int milliseconds) {
  std::array<pollfd, 2> waiting = {{{.fd = footing.channel.fd(), .events = POLLIN, .revents = 0},
                                    {.fd = footing.signals.get(), .events = POLLIN, .revents = 0}}};
  const int ready = ::poll(waiting.data(), waiting.size(), milliseconds);
  if (ready < 0) return errno == EINTR;
  return waiting[1].revents == 0;
}

bool gone(const Status& status) {
  return !status && status.error().code == ErrorCode::unavailable;
}

/// Handles what has come; false where the client is gone. Everything queued goes before the clock is looked
/// at: a guard that was stopped for a minute finds the heartbeats of that minute here.
bool drain(Footing& footing, Guard& guard, const Clock& clock) {
  for (;;) {
    const auto datagram = footing.channel.receive(Seconds(0));
    if (!datagram && datagram.error().code == ErrorCode::timeout) return true;
    if (!datagram && datagram.error().code != ErrorCode::corrupt) return false;
    const std::string reply = guard.handle(datagram ? std::string_view(*datagram) : "", clock.now());
    // A client that does not read its replies has given up on them; one that is gone ends the lease.
    if (!reply.empty() && gone(footing.channel.send(reply))) return false;
  }
}

int refuse_all(Footing& footing, const Error& error) {
  for (;;) {
    if (!wait(footing, -1)) return 1;
    const auto datagram = footing.channel.receive(Seconds(0));
    if (!datagram && datagram.error().code == ErrorCode::timeout) continue;
    if (!datagram) return 1;
    const auto message = wire::decode(*datagram);
    const std::uint64_t sequence = message ? message->sequence : 0;
    if (gone(footing.channel.send(wire::encode({sequence, wire::Refused{error}})))) return 1;
  }
}

int status_of(const std::vector<RestorationReport>& reports) {
  const auto failed = [](const RestorationReport& r) { return r.outcome == Restoration::failed; };
  return std::any_of(reports.begin(), reports.end(), failed) ? 1 : 0;
}

}  // namespace

int run_guard_process(const ProcessOptions& options) {
  auto footing = stand_alone(options);
  if (!footing) return complain(footing.error());
  std::optional<Successor> successor;
  if (options.successor) {
    auto left = Successor::leave(footing->channel, options.prepare);
    if (!left) return refuse_all(*footing, left.error());
    successor.emplace(std::move(*left));
  }
  SignOfLife alive(footing->channel);
  auto prepared = options.prepare();
  if (!prepared) return refuse_all(*footing, prepared.error());
  prepared->token = footing->token;
  const std::shared_ptr<const Clock> clock = prepared->clock;
  prepared->pause = [&alive, clock](Seconds span) {
    alive.tell();
    sleep_until(*clock, clock->now() + span);
  };
  Guard guard(std::move(*prepared));
  while (wait(*footing, patience_ms(*clock, guard.next_due())) && drain(*footing, guard, *clock)) {
    guard.step(clock->now());
  }
  return status_of(guard.client_gone(clock->now()));
}

int run_restore_process(const ProcessOptions& options) {
  auto footing = stand_alone(options);
  if (!footing) return complain(footing.error());
  const SignOfLife alive(footing->channel);
  auto prepared = options.prepare();
  if (!prepared) return refuse_all(*footing, prepared.error());
  constexpr Seconds kFirstMessage{30.0};
  const auto datagram = footing->channel.receive(kFirstMessage);
  if (!datagram) return 1;
  const auto message = wire::decode(*datagram);
  const auto* hello = message ? std::get_if<wire::Hello>(&message->body) : nullptr;
  if (hello == nullptr || hello->token != footing->token) return 1;
  const auto reports = restore_stale(
      {prepared->folder, prepared->open, prepared->root, prepared->driver_version, prepared->files});
  if (!reports) {
    (void)footing->channel.send(wire::encode({message->sequence, wire::Refused{reports.error()}}));
    return 1;
  }
  (void)footing->channel.send(wire::encode({message->sequence, wire::Restored{*reports}}));
  return status_of(*reports);
}

}  // namespace rubato::guard
