#include "base/text.h"
#include "device/replay/world_impl.h"

namespace rubato::device::replay {

Result<Reading> ReplayWorld::read(unsigned gpu, TimePoint now) {
  Reading out;
  const Status reached = impl_->at(gpu, now, [&](GpuState& state) {
    const Board& own = board(gpu);
    const Point point = own.at(state.in_force);
    out.at = TimePoint{state.now_ns};
    if (state.context.runs()) out.power = point.power;
    out.energy = Joules(state.energy_j);
    out.kind = point.on_row ? Kind::replayed : Kind::interpolated;
    if (own.why_not(Knob::power_limit).empty()) out.limits = own.limits(state.asked);
    out.sm_clock = own.sm_clock(state.in_force);
    out.memory_clock = own.memory_clock(state.in_force);
    const Knobs& k = state.asked;
    if (k.has_sm_lock != 0) out.sm_lock = ClockRange{Megahertz(k.sm_low_mhz), Megahertz(k.sm_high_mhz)};
    if (k.has_memory_lock != 0)
      out.memory_lock = ClockRange{Megahertz(k.memory_low_mhz), Megahertz(k.memory_high_mhz)};
    out.writes = state.writes;
  });
  if (!reached) return fail(reached.error());
  return out;
}

template <class Change>
Status ReplayWorld::write(unsigned gpu, std::string_view what, TimePoint now, Change&& change) {
  if (const std::string why = why_may_not_set(); !why.empty() && gpu < gpu_count())
    return fail(ErrorCode::no_permission, cat("GPU ", gpu, " (", identity(gpu).name, "): ", what, " ", why),
                "run as the user who may, or change \"rights\" in the scenario and `rubato sim reset`");
  Status result;
  const Status reached = impl_->at(gpu, now, [&](GpuState& state) {
    result = change(state.asked);
    if (!result) return;
    ++state.writes;
    if (impl_->header().from_next_iteration == 0 || !state.context.runs()) state.in_force = state.asked;
  });
  return reached ? result : reached;
}

Status ReplayWorld::set_power_limit(unsigned gpu, Watts limit, TimePoint now) {
  return write(gpu, "setting the power limit", now,
               [&](Knobs& knobs) { return board(gpu).set_limit(knobs, limit); });
}

Status ReplayWorld::lock_sm_clock(unsigned gpu, ClockRange range, TimePoint now) {
  return write(gpu, "locking the SM clock", now,
               [&](Knobs& knobs) { return board(gpu).lock_sm(knobs, range); });
}

Status ReplayWorld::reset_sm_clock(unsigned gpu, TimePoint now) {
  return write(gpu, "unlocking the SM clock", now, [&](Knobs& knobs) { return board(gpu).unlock_sm(knobs); });
}

Status ReplayWorld::lock_memory_clock(unsigned gpu, ClockRange range, TimePoint now) {
  return write(gpu, "locking the memory clock", now,
               [&](Knobs& knobs) { return board(gpu).lock_memory(knobs, range); });
}

Status ReplayWorld::reset_memory_clock(unsigned gpu, TimePoint now) {
  return write(gpu, "unlocking the memory clock", now,
               [&](Knobs& knobs) { return board(gpu).unlock_memory(knobs); });
}

}  // namespace rubato::device::replay
