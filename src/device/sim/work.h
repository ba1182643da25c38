// What a simulated GPU executes: one training iteration as a list of segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace rubato::device::sim {

inline constexpr std::size_t kMostSegments = 32;
inline constexpr std::size_t kMostContexts = 8;
inline constexpr std::size_t kMostQueued = 8;  // iterations submitted and not yet complete, per context

/// Compute and memory overlap: a segment lasts max(compute, memory) + fixed.
/// Plain data that is shared between processes: no pointers.
struct Segment {
  std::uint32_t phase = 0;  // enum rubato_mark_phase
  std::uint32_t reserved = 0;
  double compute_s = 0.0;         // on a V100 at its reference SM clock; Profile::compute_rate scales it
  double memory_s = 0.0;          // on a V100 at its reference memory clock; Profile::memory_rate
  double fixed_s = 0.0;           // launch gaps, host stalls: no clock changes them
  double compute_activity = 1.0;  // power of the compute pipes while they work, 1: the profile's `compute`
  double memory_activity = 1.0;
};

struct Workload {
  std::string name;
  std::string description;
  std::uint64_t memory_bytes = 0;
  double jitter = 0.0;  // standard deviation of an iteration's length, as a fraction
  std::vector<Segment> segments;
};

/// A workload as workloads/*.json holds it.
[[nodiscard]] Result<Workload> parse_workload(std::string_view json);
[[nodiscard]] Status check_segments(std::span<const Segment> segments);
/// One of the trainings, or a micro-benchmark of `rubato calibrate` ("calibrate-fp32"). not_found lists the
/// trainings there are.
[[nodiscard]] Result<const Workload*> find_workload(std::string_view name);

struct WorkloadSummary {
  std::string name;
  std::string description;
};
/// The trainings.
[[nodiscard]] std::vector<WorkloadSummary> list_workloads();

}  // namespace rubato::device::sim
