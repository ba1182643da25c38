#include <csignal>

#include "base/text.h"
#include "device/sim/settings.h"
#include "device/sim/world_impl.h"

namespace rubato::device::sim {
namespace {

Status lacks(const Profile& profile, std::string_view what) {
  return fail(ErrorCode::not_supported, cat(profile.board, " cannot set ", what));
}

}  // namespace

template <class Change>
Status SimWorld::Impl::write(CallId call, unsigned gpu, TimePoint now, Change&& change) {
  const Result<Twist> twist = enter(call, gpu, now);
  if (!twist) return fail(twist.error());
  if (const std::string why = why_may_not_set(); !why.empty())
    return fail(ErrorCode::no_permission,
                cat("GPU ", gpu, " (", identities[gpu].name, ", simulated): ", name_of(call), " ", why),
                "run as the user who may, or change \"rights\" in the scenario and `rubato sim reset`");
  Status result;
  const Status reached = at(gpu, now, [&](GpuState& state) {
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

Status SimWorld::set_power_limit(unsigned gpu, Watts limit, TimePoint now) {
  return impl_->write(CallId::set_power_limit, gpu, now, [&](GpuState& state, const Twist& twist) -> Status {
    if (Status fits = check_limit(profile(gpu), limit); !fits) return fits;
    state.requested_limit_w = twist.clamp.value_or(limit).value();
    ++state.writes;
    return {};
  });
}

Status SimWorld::lock_sm_clock(unsigned gpu, ClockRange range, TimePoint now) {
  return impl_->write(CallId::lock_sm_clock, gpu, now, [&](GpuState& state, const Twist&) -> Status {
    const Result<IndexRange> found = clock_range(profile(gpu), profile(gpu).sm_clocks, range, "SM");
    if (!found) return fail(found.error());
    ClockRequest request = state.asked;
    request.has_sm_lock = 1;
    request.sm_low = found->low;
    request.sm_high = found->high;
    ask(state, profile(gpu), request);
    return {};
  });
}

Status SimWorld::reset_sm_clock(unsigned gpu, TimePoint now) {
  return impl_->write(CallId::reset_sm_clock, gpu, now, [&](GpuState& state, const Twist&) -> Status {
    ClockRequest request = state.asked;
    request.has_sm_lock = request.sm_low = request.sm_high = 0;
    ask(state, profile(gpu), request);
    return {};
  });
}

Status SimWorld::lock_memory_clock(unsigned gpu, ClockRange range, TimePoint now) {
  return impl_->write(CallId::lock_memory_clock, gpu, now, [&](GpuState& state, const Twist&) -> Status {
    if (!profile(gpu).has_memory_lock) return lacks(profile(gpu), "its memory clock");
    const Result<IndexRange> found = clock_range(profile(gpu), profile(gpu).memory_clocks, range, "memory");
    if (!found) return fail(found.error());
    ClockRequest request = state.asked;
    request.has_memory_lock = 1;
    request.memory_low = found->low;
    request.memory_high = found->high;
    ask(state, profile(gpu), request);
    return {};
  });
}

Status SimWorld::reset_memory_clock(unsigned gpu, TimePoint now) {
  return impl_->write(CallId::reset_memory_clock, gpu, now, [&](GpuState& state, const Twist&) -> Status {
    if (!profile(gpu).has_memory_lock) return lacks(profile(gpu), "its memory clock");
    ClockRequest request = state.asked;
    request.has_memory_lock = request.memory_low = request.memory_high = 0;
    ask(state, profile(gpu), request);
    return {};
  });
}

Status SimWorld::set_application_clocks(unsigned gpu, ApplicationClocks clocks, TimePoint now) {
  return impl_->write(CallId::set_application_clocks, gpu, now, [&](GpuState& state, const Twist&) -> Status {
    const Profile& p = profile(gpu);
    if (!p.has_application_clocks) return lacks(p, "application clocks");
    const Result<std::uint32_t> sm = clock_index(p, p.sm_clocks, clocks.sm, "SM");
    if (!sm) return fail(sm.error());
    const Result<std::uint32_t> memory = clock_index(p, p.memory_clocks, clocks.memory, "memory");
    if (!memory) return fail(memory.error());
    ClockRequest request = state.asked;
    request.has_application = 1;
    request.application_sm = *sm;
    request.application_memory = *memory;
    ask(state, p, request);
    return {};
  });
}

Status SimWorld::reset_application_clocks(unsigned gpu, TimePoint now) {
  return impl_->write(CallId::reset_application_clocks, gpu, now,
                      [&](GpuState& state, const Twist&) -> Status {
                        if (!profile(gpu).has_application_clocks)
                          return lacks(profile(gpu), "application clocks");
                        ClockRequest request = state.asked;
                        request.has_application = request.application_sm = request.application_memory = 0;
                        ask(state, profile(gpu), request);
                        return {};
                      });
}

}  // namespace rubato::device::sim
