#include "guard/writes.h"

#include <algorithm>

namespace rubato::guard {
namespace {

/// Half a driver's milliwatt step, with room for the floating point in between.
constexpr double kLimitStep = 0.00075;
/// A driver may round an intention to its own step; until the read-back is noted, only this much is known.
constexpr double kDriverRounding = 0.5;

/// The same for an SM clock: the coarsest grid of any generation.
constexpr double kClockGrid = 15;
constexpr double kSameClock = 0.5;

/// Errors that say the driver never tried. Any other may have come after the change.
bool surely_refused(ErrorCode code) {
  return code == ErrorCode::invalid_argument || code == ErrorCode::not_supported ||
         code == ErrorCode::no_permission;
}

Status call(device::GpuControl& control, Knob knob, const ClockLock& lock) {
  if (knob == Knob::memory_clock)
    return lock ? control.lock_memory_clock(*lock) : control.reset_memory_clock();
  return lock ? control.lock_sm_clock(*lock) : control.reset_sm_clock();
}

}  // namespace

bool same_limit(Watts a, Watts b) {
  return abs(a - b).value() < kLimitStep;
}

bool is_ours(const LimitEntry& entry, const PowerLimits& now) {
  const auto& [found, previous, intended] = entry.last;
  if (same_limit(now.requested, previous) || same_limit(now.requested, intended)) return true;
  if (entry.read_back) return same_limit(now.requested, *entry.read_back);
  const Watts clamped = std::clamp(intended, std::min(now.min, now.max), std::max(now.min, now.max));
  return abs(now.requested - clamped).value() <= kDriverRounding;
}

Result<PowerLimits> write_limit(Journal& journal, device::Gpu& gpu, device::GpuControl& control,
                                Watts previous, Watts intended, Announce announce) {
  const Watts found = journal.content().limit ? journal.content().limit->last.found : previous;
  const Status announced = journal.append(LimitIntent{found, previous, intended});
  if (!announced && announce == Announce::required) return fail(announced.error());
  const Status written = control.set_power_limit(intended);
  auto limits = gpu.power_limits();
  Status noted;
  if (limits && announced) noted = journal.append(LimitDone{limits->requested});
  if (!written) return fail(written.error());
  if (!limits) return fail(limits.error());
  if (!noted && announce == Announce::required) return fail(noted.error());
  return limits;
}

Status write_lock(Journal& journal, device::GpuControl& control, Knob knob, const ClockLock& intended,
                  Announce announce, AskedAt* asked) {
  const auto& entry = journal.content().lock(knob);
  LockIntent intent{knob, std::nullopt, std::nullopt, intended};
  const bool known = entry && entry->state;
  if (entry) {
    intent.found = entry->last.found;
    // Of the two states it may be in, the one that still needs this write.
    const ClockLock& other = entry->last.intended == intended ? entry->last.previous : entry->last.intended;
    intent.previous = known ? *entry->state : other;
  }
  const Status announced = journal.append(intent);
  if (!announced && announce == Announce::required) return announced;
  if (asked != nullptr && !asked->first) asked->first = asked->clock.now();
  const Status written = call(control, knob, intended);
  if (!written) {
    const bool unchanged = known && surely_refused(written.error().code);
    if (announced && unchanged) (void)journal.append(LockDone{knob, intent.previous});
    return written;
  }
  const Status noted = announced ? journal.append(LockDone{knob, intended}) : Status();
  if (!noted && announce == Announce::required) return noted;
  return {};
}

bool same_clocks(const ApplicationClocks& a, const ApplicationClocks& b) {
  return abs(a.memory - b.memory).value() < kSameClock && abs(a.sm - b.sm).value() < kSameClock;
}

bool is_ours(const ApplicationEntry& entry, const ApplicationClocks& now) {
  const auto& [found, previous, intended] = entry.last;
  if (same_clocks(now, previous) || same_clocks(now, intended)) return true;
  if (entry.read_back) return same_clocks(now, *entry.read_back);
  return abs(now.memory - intended.memory).value() < kSameClock &&
         abs(now.sm - intended.sm).value() <= kClockGrid;
}

ApplicationWrite way_back_to(const ApplicationClocks& clocks, const ApplicationClockReading& now) {
  return same_clocks(clocks, now.by_default) ? ApplicationWrite::reset : ApplicationWrite::set;
}

Result<ApplicationClocks> write_application(Journal& journal, device::Gpu& gpu, device::GpuControl& control,
                                            const ApplicationClocks& previous,
                                            const ApplicationClocks& intended, ApplicationWrite way,
                                            Announce announce) {
  const auto& entry = journal.content().application_clocks;
  const ApplicationClocks found = entry ? entry->last.found : previous;
  const Status announced = journal.append(ApplicationIntent{found, previous, intended});
  if (!announced && announce == Announce::required) return fail(announced.error());
  const Status written = way == ApplicationWrite::reset ? control.reset_application_clocks()
                                                        : control.set_application_clocks(intended);
  const auto now = gpu.application_clocks();
  Status noted;
  if (now && announced) noted = journal.append(ApplicationDone{now->requested});
  if (!written) return fail(written.error());
  if (!now) return fail(now.error());
  if (!noted && announce == Announce::required) return fail(noted.error());
  return now->requested;
}

bool may_differ(const LockEntry& entry, const ClockLock& wanted) {
  if (entry.state) return *entry.state != wanted;
  return entry.last.previous != wanted || entry.last.intended != wanted;
}

}  // namespace rubato::guard
