#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <ctime>

#include "base/call_count.h"
#include "base/text.h"
#include "device/sim/sensor.h"
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

Error SimWorld::Impl::gone(unsigned gpu) const {
  return {ErrorCode::device_lost,
          cat("GPU ", gpu, " (", identities[gpu].name, ", simulated) fell off the bus, as the scenario says"),
          "`rubato sim reset` makes a new world"};
}

bool SimWorld::Impl::hits(FaultState& fault, CallId call, unsigned gpu, TimePoint now) const {
  if (fault.call >= 0 && fault.call != static_cast<std::int32_t>(call)) return false;
  if (fault.gpu >= 0 && fault.gpu != static_cast<std::int32_t>(gpu)) return false;
  if (fault.role[0] != '\0' && role != fault.role) return false;
  if ((now - TimePoint{storage->header().origin_ns}).value() < fault.from_s) return false;
  const std::uint64_t before = std::atomic_ref<std::uint64_t>(fault.matched).fetch_add(1);
  return before >= fault.after && before - fault.after < fault.count;
}

// What somebody else does to the GPU just before the call.
void SimWorld::Impl::interfere(const FaultState& fault, GpuState& state, const Profile& profile) {
  const std::int64_t until = state.now_ns + std::llround(fault.span_s * 1e9);
  switch (fault.effect) {
    case Effect::foreign_limit:
      state.requested_limit_w = fault.to_w;
      break;
    case Effect::foreign_sm_clock: {
      ClockRequest request = state.asked;
      request.has_sm_lock = request.sm_low = request.sm_high = 0;
      const ClockRange range{Megahertz(fault.low_mhz), Megahertz(fault.high_mhz)};
      // A clock the board does not have is refused to others as well.
      if (fault.has_clock != 0 && !request_sm_lock(request, profile, range)) break;
      ask(state, profile, request);
      --state.writes;  // counts what went through the driver calls of this world
      break;
    }
    case Effect::driver_reload:
      reload_driver(state, profile);
      break;
    case Effect::gpu_reset:
      reset_gpu(state, profile);
      break;
    case Effect::gpu_lost:
      lose_gpu(state);
      break;
    case Effect::counter_reset:
      reset_counter(state.sensor, state.now_ns);
      break;
    case Effect::stale_sensor:
      state.sensor.stale_until_ns = until;
      break;
    case Effect::power_brake:
      state.brake_until_ns = until;
      break;
    default:
      break;
  }
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
    case Effect::absurd_reading:
      if (fault.has_to != 0) twist.shown_power = Watts(fault.to_w);
      twist.counter_jump = Joules(fault.jump_j);
      return {};
    default:
      return at(gpu, now, [&](GpuState& state) { interfere(fault, state, *profiles[gpu]); });
  }
}

Result<Twist> SimWorld::Impl::enter(CallId call, unsigned gpu, TimePoint now) {
  note_call();
  if (Status known = check_gpu(gpu); !known) return fail(known.error());
  Twist twist;
  WorldHeader& header = storage->header();
  for (std::uint32_t i = 0; i < header.fault_count; ++i) {
    if (!hits(header.faults[i], call, gpu, now)) continue;
    if (Status acted = act(header.faults[i], call, gpu, now, twist); !acted) return fail(acted.error());
  }
  return twist;
}

}  // namespace rubato::device::sim
