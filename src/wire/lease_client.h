// The client's side of one lease. Requests block for their reply; heartbeats are one-way, so another thread
// may send them while a request is under way (step() is the only member that may be called concurrently).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "wire/channel.h"
#include "wire/message.h"

namespace rubato::wire {

/// A guard that hears nothing for this long restores (docs/protocol.md).
inline constexpr Seconds kLeaseTimeout{5.0};
inline constexpr Seconds kHeartbeatPeriod{1.0};
/// Silence after which a guard counts as stuck in its driver. One that is only slow says so between its
/// driver calls (guard/process.cpp); a single call, the first attachment of a GPU, takes 1 to 3 s. Wall time.
inline constexpr Seconds kReplyPatience{4.5};

class LeaseClient {
 public:
  LeaseClient(std::unique_ptr<Channel> channel, std::shared_ptr<const Clock> clock);

  [[nodiscard]] Status hello(std::string client, std::string token = {});
  [[nodiscard]] Result<Granted> acquire(Acquire request);
  [[nodiscard]] Result<Applied> apply(const GpuId& gpu, const Setting& setting);
  [[nodiscard]] Result<RestorationReport> restore(const GpuId& gpu);
  [[nodiscard]] Result<std::vector<RestorationReport>> release();

  /// The guard itself is gone, whatever an error of a request says about a GPU. Asked by the requesting
  /// thread.
  [[nodiscard]] bool guard_gone() const { return gone_.load(); }

  /// Once it is gone: what a guard's successor put back, where it left one. Asked by the requesting thread.
  [[nodiscard]] std::optional<std::vector<RestorationReport>> last_words();

  /// When the next heartbeat is due; heartbeats start with the grant.
  [[nodiscard]] TimePoint next_due() const;
  /// Sends what is due. unavailable: the guard is gone.
  [[nodiscard]] Status step(TimePoint now);

 private:
  template <class Reply>
  Result<Reply> ask(Body request);
  /// True where the message is no reply but the last words.
  bool keep_last_words(Message& message);

  std::unique_ptr<Channel> channel_;
  std::shared_ptr<const Clock> clock_;
  std::uint64_t sequence_ = 0;
  std::optional<std::vector<RestorationReport>> last_words_;
  std::atomic<bool> gone_{false};
  std::atomic<std::int64_t> next_heartbeat_ns_;
};

}  // namespace rubato::wire
