// One write to the driver with everything around it: announce in the journal, write, read back, note the
// outcome.
#pragma once

#include "base/clock.h"
#include "device/gpu.h"
#include "guard/journal.h"

namespace rubato::guard {

/// `required`: what cannot be announced is not written. `best_effort`: for ways back to what was found, which
/// the earlier records already allow, so a full disk must not stop them.
enum class Announce { required, best_effort };

/// Limits as the driver keeps them, in whole milliwatts.
[[nodiscard]] bool same_limit(Watts a, Watts b);

/// Whether the limit now requested is one that the journal's last record explains.
[[nodiscard]] bool is_ours(const LimitEntry& entry, const PowerLimits& now);

/// The limits read back. After an error the GPU may hold either value.
[[nodiscard]] Result<PowerLimits> write_limit(Journal& journal, device::Gpu& gpu, device::GpuControl& control,
                                              Watts previous, Watts intended, Announce announce);

/// When the driver was first asked.
struct AskedAt {
  const Clock& clock;
  std::optional<TimePoint> first;
};

/// Locks, or resets where `intended` is absent. The journal's entry says afterwards what is in force.
[[nodiscard]] Status write_lock(Journal& journal, device::GpuControl& control, Knob knob,
                                const ClockLock& intended, Announce announce, AskedAt* asked = nullptr);

[[nodiscard]] bool same_clocks(const ApplicationClocks& a, const ApplicationClocks& b);

/// Whether these application clocks are what the journal's last record explains.
[[nodiscard]] bool is_ours(const ApplicationEntry& entry, const ApplicationClocks& now);

/// `reset`: by the driver's own reset, which sets its defaults and, unlike setting them, leaves nothing asked
/// for.
enum class ApplicationWrite { set, reset };
[[nodiscard]] ApplicationWrite way_back_to(const ApplicationClocks& clocks,
                                           const ApplicationClockReading& now);

/// The clocks read back. After an error the GPU may hold either pair.
[[nodiscard]] Result<ApplicationClocks> write_application(Journal& journal, device::Gpu& gpu,
                                                          device::GpuControl& control,
                                                          const ApplicationClocks& previous,
                                                          const ApplicationClocks& intended,
                                                          ApplicationWrite way, Announce announce);

/// True unless that lock is known to be in `wanted` state.
[[nodiscard]] bool may_differ(const LockEntry& entry, const ClockLock& wanted);

}  // namespace rubato::guard
