#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>

#include "base/text.h"
#include "device/sim/settings.h"
#include "device/sim/world_impl.h"

namespace rubato::device::sim {
namespace {

void sleep_on_the_wall(Seconds span) {
  const RealClock clock;
  sleep_until(clock, clock.now() + span);
}

bool has_cap_sys_admin() {
  if (::geteuid() == 0) return true;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  return (data[0].effective & (1U << CAP_SYS_ADMIN)) != 0;
}

Error error_of(ErrorCode code, CallId call, const GpuIdentity& gpu) {
  return {code, cat("GPU ", gpu.index, " (", gpu.name, ", simulated): ", name_of(call),
                    " failed as the scenario says: ", name_of(code))};
}

}  // namespace

std::string SimWorld::Impl::why_may_not_set() const {
  switch (scenario.rights.value_or(Rights::owner)) {
    case Rights::none:
      return "the scenario of this simulated world lets nobody set anything";
    case Rights::cap_sys_admin:
      return has_cap_sys_admin() ? "" : "needs CAP_SYS_ADMIN, which this process lacks";
    case Rights::owner:
      break;
  }
  const std::int64_t owner = storage->owner_uid();
  if (owner < 0 || ::geteuid() == 0 || owner == std::int64_t{::geteuid()}) return "";
  return cat("needs uid ", owner, ", which owns this simulated world");
}

bool SimWorld::Impl::hits(FaultState& fault, CallId call) const {
  if (fault.call >= 0 && fault.call != static_cast<std::int32_t>(call)) return false;
  if (fault.role[0] != '\0' && role != fault.role) return false;
  const std::uint64_t before = std::atomic_ref<std::uint64_t>(fault.matched).fetch_add(1);
  return before >= fault.after && before - fault.after < fault.count;
}

Status SimWorld::Impl::act(const FaultState& fault, CallId call, unsigned gpu, TimePoint now, Twist& twist) {
  switch (fault.effect) {
    case Effect::error:
      return fail(error_of(fault.error, call, identities[gpu]));
    case Effect::lie:
      twist.lie = true;
      return {};
    case Effect::clamp:
      twist.clamp = Watts(fault.to_w);
      return {};
    case Effect::kill_after:
      twist.kill_after = true;
      return {};
    case Effect::kill_before:
      ::raise(SIGKILL);
      return {};
    case Effect::slow:
      if (in_file()) sleep_on_the_wall(Seconds(fault.wall_s));
      return {};
    case Effect::hang:
      // In virtual time nothing can wait: a call that never returns is told as one that timed out.
      if (!in_file()) return fail(error_of(ErrorCode::timeout, call, identities[gpu]));
      for (;;) sleep_on_the_wall(Seconds(3600));
    case Effect::foreign_limit:
      return at(gpu, now, [&](GpuState& state) { state.requested_limit_w = fault.to_w; });
    case Effect::driver_reload:
      return at(gpu, now, [&](GpuState& state) { reload_driver(state, *profiles[gpu]); });
  }
  return {};
}

Result<Twist> SimWorld::Impl::enter(CallId call, unsigned gpu, TimePoint now) {
  if (Status known = check_gpu(gpu); !known) return fail(known.error());
  Twist twist;
  WorldHeader& header = storage->header();
  for (std::uint32_t i = 0; i < header.fault_count; ++i) {
    if (!hits(header.faults[i], call)) continue;
    if (Status acted = act(header.faults[i], call, gpu, now, twist); !acted) return fail(acted.error());
  }
  return twist;
}

}  // namespace rubato::device::sim
