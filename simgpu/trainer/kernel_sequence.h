// The kernels a simulated iteration consists of. The simulated GPU knows segments only (device/sim/work.h):
// their order, their times and what limits them are the workload's; that each is cut into a few kernels is
// for show.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "device/sim/progress.h"
#include "device/sim/work.h"

namespace rubato::sim_trainer {

/// An iteration as the GPU ran it.
struct GpuIteration {
  std::uint64_t index = 0;
  TimePoint begin;
  TimePoint end;
  std::vector<device::sim::Segment> segments;
  std::vector<device::sim::SegmentRun> runs;  // at the clocks of its end, one for each segment
};

struct SimKernel {
  std::string name;
  std::uint32_t phase = 0;  // enum rubato_mark_phase
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
  TimePoint begin;
  TimePoint end;
};

/// In order of time, from begin to end of the iteration; what a segment spends outside kernels lies behind
/// each of them in equal parts. A segment that neither computes nor moves data has none.
[[nodiscard]] std::vector<SimKernel> kernels_of(const GpuIteration& iteration);

}  // namespace rubato::sim_trainer
