#include "guard/successor.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include "guard/sign_of_life.h"
#include "guard/stale.h"

namespace rubato::guard {
namespace {

/// False where the guard ended as it should.
bool died(const ScopedFd& hear) {
  char byte = 0;
  ssize_t got = 0;
  do {
    got = ::read(hear.get(), &byte, 1);
  } while (got < 0 && errno == EINTR);
  return got <= 0;
}

/// Its pipe is closed before the locks it held.
void wait_until_gone(pid_t guard) {
  const RealClock wall;
  while (::getppid() == guard) sleep_until(wall, wall.now() + Seconds(1e-3));
}

bool failed(const RestorationReport& report) {
  return report.outcome == Restoration::failed;
}

/// As a guard at its end: a driver that refuses, or cannot be opened, is asked again. What another process
/// puts back meanwhile has no report.
std::optional<std::vector<RestorationReport>> put_back(const std::function<Result<GuardOptions>()>& prepare,
                                                       SignOfLife& alive) {
  const RealClock wall;
  const TimePoint give_up = wall.now() + kRetryPatience;
  std::optional<std::vector<RestorationReport>> told;
  auto options = prepare();
  for (;;) {
    if (options) {
      auto reports = restore_stale(
          {options->folder, options->open, options->root, options->driver_version, options->files});
      if (reports) {
        if (!told) told.emplace();
        std::erase_if(*told, failed);
        std::move(reports->begin(), reports->end(), std::back_inserter(*told));
      }
    }
    const bool done = told && std::none_of(told->begin(), told->end(), failed);
    if (done || wall.now() >= give_up) return told;
    alive.tell();
    sleep_until(wall, wall.now() + kRetryPeriod);
    if (!options) options = prepare();
  }
}

/// Read, so that what the client reads is the answer and no error.
void drop_what_came(wire::SocketChannel& client) {
  constexpr int kMost = 1000;  // a client that floods is told as well as can be
  for (int i = 0; i < kMost; ++i) {
    const auto datagram = client.receive(Seconds(0));
    if (!datagram && datagram.error().code != ErrorCode::corrupt) return;
  }
}

void succeed(wire::SocketChannel& client, const std::function<Result<GuardOptions>()>& prepare) {
  SignOfLife alive(client);
  const auto reports = put_back(prepare, alive);
  drop_what_came(client);
  if (reports) (void)client.send(wire::encode({0, wire::Restored{*reports}}));
}

}  // namespace

Result<Successor> Successor::leave(wire::SocketChannel& client,
                                   const std::function<Result<GuardOptions>()>& prepare) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(from_errno(errno, "cannot make a pipe"));
  ScopedFd hear(ends[0]);
  ScopedFd tell(ends[1]);
  const pid_t guard = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return fail(from_errno(errno, "cannot fork the guard's successor"));
  if (child > 0) return Successor(std::move(tell));
  // A session of its own: what is sent to the guard's group is not for it. The signals that ask a guard to
  // end are blocked already; it ends with the guard.
  (void)::setsid();
  tell.reset();
  if (died(hear)) {
    wait_until_gone(guard);
    succeed(client, prepare);
  }
  ::_exit(0);
}

Successor::~Successor() {
  const char done = 1;
  if (tell_.is_open()) (void)!::write(tell_.get(), &done, 1);
}

}  // namespace rubato::guard
