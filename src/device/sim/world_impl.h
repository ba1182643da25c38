// What the members of SimWorld share between its source files.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "device/sim/physics.h"
#include "device/sim/storage.h"
#include "device/sim/world.h"

namespace rubato::device::sim {

/// Stands at the latest time any call gave: a private world has no time of its own.
class FollowingClock final : public Clock {
 public:
  explicit FollowingClock(TimePoint start) : ns_(start.ns) {}
  [[nodiscard]] TimePoint now() const override { return TimePoint{ns_.load()}; }
  [[nodiscard]] Seconds wall(Seconds) const override { return Seconds(0); }
  void follow(TimePoint t);

 private:
  std::atomic<std::int64_t> ns_;
};

/// What the scenario does to a call that was let through.
struct Twist {
  bool lie = false;
  bool kill_after = false;
  std::optional<Watts> clamp;
};

struct SimWorld::Impl {
  std::unique_ptr<Storage> storage;
  std::vector<const Profile*> profiles;
  std::vector<GpuIdentity> identities;
  Scenario scenario;
  std::shared_ptr<FollowingClock> following;  // private memory only
  std::shared_ptr<const Clock> clock;
  std::string role;  // of this process, for faults

  [[nodiscard]] bool in_file() const { return !storage->path().empty(); }
  [[nodiscard]] Status check_gpu(unsigned gpu) const;
  /// State at `now`, then `change` on it.
  template <class Change>
  Status at(unsigned gpu, TimePoint now, Change&& change) {
    if (Status known = check_gpu(gpu); !known) return known;
    if (following) following->follow(now);
    return storage->update(gpu, [&](GpuState& state) {
      advance(state, *profiles[gpu], now);
      change(state);
    });
  }
  /// Counts the call and lets faults act.
  [[nodiscard]] Result<Twist> enter(CallId call, unsigned gpu, TimePoint now);
  [[nodiscard]] std::string why_may_not_set() const;
  /// enter(), rights, then `change`, unless the call is to lie.
  template <class Change>
  Status write(CallId call, unsigned gpu, TimePoint now, Change&& change);

 private:
  [[nodiscard]] bool hits(FaultState& fault, CallId call) const;
  Status act(const FaultState& fault, CallId call, unsigned gpu, TimePoint now, Twist& twist);
};

[[nodiscard]] std::string boot_id();
/// Header and starting states. invalid_argument where the scenario does not fit the profiles.
[[nodiscard]] Result<NewWorld> new_world(std::span<const std::string> profiles, const Scenario& scenario,
                                         Rights rights, TimePoint start);
[[nodiscard]] Scenario scenario_of(const WorldHeader& header);
[[nodiscard]] std::string uuid_of(const Profile& profile, unsigned index, std::string_view path);

}  // namespace rubato::device::sim
