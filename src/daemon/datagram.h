// One message out of a connection, and how long it lay there: the kernel stamps what comes through a Unix
// socket too (SO_TIMESTAMPNS, socket(7)).
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>

#include "base/units.h"

namespace rubato::daemon {

struct Datagram {
  ssize_t size = 0;  // as recv(2) with MSG_TRUNC: longer than the buffer where the message is; -1: see errno
  std::optional<Seconds> queued{};  // since it was sent; absent where the day's clock was set meanwhile
};

/// From now on what arrives is stamped.
void stamp_arrivals(int socket);
/// Without waiting.
[[nodiscard]] Datagram receive(int socket, std::span<char> buffer);

}  // namespace rubato::daemon
