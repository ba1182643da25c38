#include <csignal>

#include "base/text.h"
#include "device/sim/settings.h"
#include "device/sim/world_impl.h"

namespace rubato::device::sim {
template <class Change>
Status SimWorld::Impl::write(CallId call, unsigned gpu, TimePoint now, Change&& change) {
  const Result<Twist> twist = enter(call, gpu, now);
  if (!twist) return fail(twist.error());
  if (const std::string why = why_may_not_set(); !why.empty())
    return fail(ErrorCode::no_permission,
                cat("GPU ", gpu, " (", identities[gpu].name, ", simulated): ", name_of(call), " ", why),
                "run as the user who may, or change \"rights\" in the scenario and `rubato sim reset`");
  Status result;
  const Status reached = drive(gpu, now, [&](GpuState& state) {
    GpuState before = state;
    result = change(state, *twist);
    if (twist->lie && result) {
      state.asked = before.asked;
      state.request_due_ns = before.request_due_ns;
      state.requested_limit_w = before.requested_limit_w;
      state.writes = before.writes;
    }
  });
  if (!reached) return reached;
  if (twist->kill_after) ::raise(SIGKILL);
  return result;
}

Status SimWorld::Impl::write_clocks(CallId call, unsigned gpu, TimePoint now,
                                    const std::function<Status(ClockRequest&)>& change) {
  return write(call, gpu, now, [&](GpuState& state, const Twist&) -> Status {
    ClockRequest request = state.asked;
    if (Status changed = change(request); !changed) return changed;
    ask(state, *profiles[gpu], request);
    return {};
  });
}

Status SimWorld::set_power_limit(unsigned gpu, Watts limit, TimePoint now) {
  return impl_->write(CallId::set_power_limit, gpu, now, [&](GpuState& state, const Twist& twist) -> Status {
    if (!profile(gpu).can_set_power_limit) return fail(lacks(profile(gpu), "its power limit"));
    if (Status fits = check_limit(profile(gpu), limit); !fits) return fits;
    state.requested_limit_w = twist.clamp.value_or(limit).value();
    ++state.writes;
    return {};
  });
}

Status SimWorld::lock_sm_clock(unsigned gpu, ClockRange range, TimePoint now) {
  return impl_->write_clocks(CallId::lock_sm_clock, gpu, now, [&](ClockRequest& request) {
    return request_sm_lock(request, profile(gpu), range);
  });
}

Status SimWorld::reset_sm_clock(unsigned gpu, TimePoint now) {
  return impl_->write_clocks(CallId::reset_sm_clock, gpu, now, [&](ClockRequest& request) -> Status {
    if (!profile(gpu).has_sm_lock) return fail(lacks(profile(gpu), "a lock of its SM clock"));
    request.has_sm_lock = request.sm_low = request.sm_high = 0;
    return {};
  });
}

Status SimWorld::lock_memory_clock(unsigned gpu, ClockRange range, TimePoint now) {
  return impl_->write_clocks(CallId::lock_memory_clock, gpu, now, [&](ClockRequest& request) {
    return request_memory_lock(request, profile(gpu), range);
  });
}

Status SimWorld::reset_memory_clock(unsigned gpu, TimePoint now) {
  return impl_->write_clocks(CallId::reset_memory_clock, gpu, now, [&](ClockRequest& request) -> Status {
    if (!profile(gpu).has_memory_lock) return fail(lacks(profile(gpu), "its memory clock"));
    request.has_memory_lock = request.memory_low = request.memory_high = 0;
    return {};
  });
}

Status SimWorld::set_application_clocks(unsigned gpu, ApplicationClocks clocks, TimePoint now) {
  return impl_->write_clocks(CallId::set_application_clocks, gpu, now, [&](ClockRequest& request) {
    return request_application_clocks(request, profile(gpu), clocks);
  });
}

Status SimWorld::reset_application_clocks(unsigned gpu, TimePoint now) {
  return impl_->write_clocks(
      CallId::reset_application_clocks, gpu, now, [&](ClockRequest& request) -> Status {
        if (!profile(gpu).has_application_clocks) return fail(lacks(profile(gpu), "application clocks"));
        request.has_application = request.application_sm = request.application_memory = 0;
        return {};
      });
}

}  // namespace rubato::device::sim
