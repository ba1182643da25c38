// How far the work of a context is and when it will be done at the present clocks.
#pragma once

#include <optional>

#include "base/clock.h"
#include "device/sim/profile.h"
#include "device/sim/state.h"

namespace rubato::device::sim {

/// How a segment runs at the present clocks, alone on the GPU.
struct SegmentRun {
  double seconds = 0.0;
  double compute_busy = 0.0;  // fraction of it
  double memory_busy = 0.0;
  double kernel_busy = 0.0;  // anything but the fixed part
};

[[nodiscard]] SegmentRun run_of(const Segment& segment, const Profile& profile, double sm_mhz,
                                double memory_mhz);
/// Time this context needs the GPU for until its running segment ends.
[[nodiscard]] double segment_left(const ContextState& context, const GpuState& state, const Profile& profile);
/// Moves on by `seconds` of GPU time at most to the end of the segment; `now` stamps a completed iteration.
void execute(ContextState& context, const GpuState& state, const Profile& profile, double seconds,
             std::int64_t now_ns);
/// When iteration `index` completed or would; nothing where it was not submitted or is forgotten.
[[nodiscard]] std::optional<TimePoint> completion_of(const ContextState& context, const GpuState& state,
                                                     const Profile& profile, std::uint64_t index);

}  // namespace rubato::device::sim
