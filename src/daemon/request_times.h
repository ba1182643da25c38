// Where the time of requests goes, counted since rubatod began: what it takes of its own, what the driver and
// the journal take of it. For whoever asks (docs/protocol.md, `times`).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/duration_histogram.h"
#include "wire/message.h"

namespace rubato::daemon {

/// What one task of a GPU's owner took, on the wall's clock.
struct Spent {
  Seconds driver{};     // inside driver calls
  Seconds journal{};    // writing and syncing the journal
  Seconds behind{};     // waiting while the owner was at another task of this GPU
  Seconds hand_over{};  // until the owner's thread ran, once it was free
  TimePoint done{};     // its answer was handed in; nothing was posted where it is at 0
};

/// One request while it is served, and then its answer on the way out.
struct Served {
  std::size_t verb = 0;             // place among timed_verbs()
  TimePoint begun{};                // read from the socket, or its turn came after the one before it
  std::optional<Seconds> queued{};  // from the client's sending until it was read, where the kernel tells
  Spent spent{};                    // of several GPUs, that of the one that took longest

  /// The answer of one task, looked at now.
  void add(const Spent& task, TimePoint now);
};

/// Requests whose times are counted, as the protocol calls them.
[[nodiscard]] std::optional<std::size_t> timed_verb(const wire::Body& request);

class RequestTimes {
 public:
  /// A request that was done; refused ones do not count. `sent`: its answer was given to the socket.
  void add(const Served& request, TimePoint sent);
  /// invalid_argument where no times of such requests are kept.
  [[nodiscard]] Result<wire::Timed> of(std::string_view request) const;

 private:
  static constexpr std::size_t kVerbs = 7;
  static constexpr std::size_t kParts = 8;
  std::array<std::array<DurationHistogram, kParts>, kVerbs> times_{};
};

}  // namespace rubato::daemon
