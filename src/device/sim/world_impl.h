// What the members of SimWorld share between its source files.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/following_clock.h"
#include "device/sim/physics.h"
#include "device/sim/storage.h"
#include "device/sim/world.h"

namespace rubato::device::sim {

/// What the scenario does to a call that was let through.
struct Twist {
  bool lie = false;
  bool kill_after = false;
  std::optional<Watts> clamp;
  std::optional<Watts> shown_power;  // absurd
  Joules counter_jump;
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
  /// The same for a driver call: device_lost where the GPU is gone for good.
  template <class Change>
  Status drive(unsigned gpu, TimePoint now, Change&& change) {
    bool lost = false;
    const Status reached = at(gpu, now, [&](GpuState& state) {
      lost = state.lost != 0;
      if (!lost) change(state);
    });
    return reached && lost ? Status(fail(gone(gpu))) : reached;
  }
  [[nodiscard]] Error gone(unsigned gpu) const;
  /// Counts the call and lets faults act.
  [[nodiscard]] Result<Twist> enter(CallId call, unsigned gpu, TimePoint now);
  [[nodiscard]] std::string why_may_not_set() const;
  /// enter(), rights, then `change`, unless the call is to lie.
  template <class Change>
  Status write(CallId call, unsigned gpu, TimePoint now, Change&& change);
  /// A write that ends in another request for clocks.
  Status write_clocks(CallId call, unsigned gpu, TimePoint now,
                      const std::function<Status(ClockRequest&)>& change);

 private:
  [[nodiscard]] bool hits(FaultState& fault, CallId call, unsigned gpu, TimePoint now) const;
  static void interfere(const FaultState& fault, GpuState& state, const Profile& profile);
  Status act(const FaultState& fault, CallId call, unsigned gpu, TimePoint now, Twist& twist);
};

/// How an error begins that is about what a scenario says was found.
inline constexpr std::string_view kScenarioMisfit = "scenario: \"found\": ";

[[nodiscard]] std::string boot_id();
/// Header and starting states. An error that begins with kScenarioMisfit where the scenario does not fit the
/// profiles.
[[nodiscard]] Result<NewWorld> new_world(std::span<const std::string> profiles, const Scenario& scenario,
                                         Rights rights, TimePoint start);
[[nodiscard]] Scenario scenario_of(const WorldHeader& header);
[[nodiscard]] std::string uuid_of(const Profile& profile, unsigned index, std::string_view path);

}  // namespace rubato::device::sim
