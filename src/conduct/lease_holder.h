// The session's view of its lease: what it holds, what it asked for, and what to do when the guard says no or
// is gone. Requests may come from two threads (the session's and a plan's): one waits for the other.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/restoration.h"
#include "core/setting.h"
#include "wire/lease_client.h"

namespace rubato::conduct {

/// Puts back what a dead guard left behind (the cli starts another guard for it): a report for each GPU that
/// had something left, or why no other guard could be had.
using Rescue = std::function<Result<std::vector<RestorationReport>>()>;

/// A GPU's limits, to see whether what nobody reports on is as it was found.
using ReadLimits = std::function<Result<PowerLimits>(const GpuId&)>;

class LeaseHolder {
 public:
  enum class State { none, held, refused, guard_lost };

  /// `client` may be null: nothing will ever be set. `max_slowdown`: that the run watches, a fraction;
  /// rubatod's rules may ask for one.
  LeaseHolder(wire::LeaseClient* client, std::vector<Knob> knobs, std::optional<ClockRange> found_sm_clock,
              Rescue rescue, std::optional<double> max_slowdown = {});

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool usable() const {
    return client_ != nullptr && state_ != State::refused && state_ != State::guard_lost;
  }

  /// Takes the GPUs, once. After a pause longer than the guard's patience it takes them again.
  [[nodiscard]] Result<wire::Granted> acquire(const std::vector<GpuId>& gpus);
  /// These two acquire again and retry where the guard had restored in the meantime.
  [[nodiscard]] Result<wire::Applied> apply(const GpuId& gpu, const Setting& setting);
  [[nodiscard]] Result<RestorationReport> restore(const GpuId& gpu);
  /// Ends the lease; one report per GPU of it.
  [[nodiscard]] std::vector<RestorationReport> release(const ReadLimits& limits);

  /// True once, when the guard has died: what it left is put back then, unless what_it_left() says otherwise.
  [[nodiscard]] bool guard_just_died();
  [[nodiscard]] std::vector<RestorationReport> what_it_left(const ReadLimits& limits) const;
  /// Where the guard may have given up on us (after Ctrl-Z, or on a machine too busy for heartbeats): true
  /// where it had and the lease was taken anew, so that settings have to be applied again.
  [[nodiscard]] bool taken_anew();
  /// Why a lease that lapsed could not be had again; absent: it could, or none lapsed.
  [[nodiscard]] std::optional<Error> why_lost() const;

 private:
  [[nodiscard]] bool take_anew();  // with the mutex held, as are the next two
  [[nodiscard]] RestorationReport rescue_of(const GpuId& gpu, const ReadLimits& limits) const;
  [[nodiscard]] RestorationReport judge_unreported(const GpuId& gpu, const ReadLimits& limits) const;
  void rescue_again();
  /// Notes what an error means for the lease; returns it unchanged.
  Error digest(Error error);

  wire::LeaseClient* client_;
  std::vector<Knob> knobs_;
  std::optional<ClockRange> found_sm_clock_;
  Rescue rescue_;
  std::optional<double> max_slowdown_;
  std::optional<Error> why_lost_;
  mutable std::mutex
      mutex_;  // not for state_, which the session asks while a request of the other thread is on
  std::atomic<State> state_{State::none};
  bool was_held_ = false;
  bool death_told_ = false;
  std::vector<GpuId> gpus_;
  std::map<GpuId, Watts> found_;
  std::optional<Result<std::vector<RestorationReport>>> rescued_;
};

}  // namespace rubato::conduct
