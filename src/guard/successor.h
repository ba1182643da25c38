// Who puts back what a guard leaves that dies by itself, where the run beside it has no right to: under
// `sudo rubato` and with --sudo the guard alone is root's. A second process of root's, forked before the
// first opens its driver, that does nothing but wait for its end.
#pragma once

#include <functional>

#include "base/fd.h"
#include "guard/guard.h"
#include "wire/channel.h"

namespace rubato::guard {

/// The guard's end of it. Destroyed, it lets the successor go; what dies before that is succeeded.
class Successor {
 public:
  /// Forks and returns in the guard. The successor keeps `client`, so that the client hears of the guard's
  /// death when all is put back: by the reports ("restored" with sequence 0), then by the end of the socket.
  [[nodiscard]] static Result<Successor> leave(wire::SocketChannel& client,
                                               const std::function<Result<GuardOptions>()>& prepare);
  Successor(Successor&&) = default;
  Successor& operator=(Successor&&) = delete;
  ~Successor();

 private:
  explicit Successor(ScopedFd tell) : tell_(std::move(tell)) {}
  ScopedFd tell_;
};

}  // namespace rubato::guard
