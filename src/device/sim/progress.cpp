#include "device/sim/progress.h"

#include <algorithm>
#include <cmath>

namespace rubato::device::sim {
namespace {

SegmentRun run_of(const Segment& segment, const GpuState& state, const Profile& profile) {
  return run_of(segment, profile, profile.sm_clocks[state.sm_index].value(),
                profile.memory_clocks[state.memory_index].value());
}

double scale_of(const ContextState& context, std::uint64_t iteration) {
  return context.scale[iteration % kMostQueued];
}

// Segments end when less than this is left: clocks count whole nanoseconds.
constexpr double kRounding = 0.75e-9;

}  // namespace

SegmentRun run_of(const Segment& segment, const Profile& profile, double sm_mhz, double memory_mhz) {
  const double compute = segment.compute_s / profile.compute_rate * profile.sm_reference.value() / sm_mhz;
  const double memory =
      segment.memory_s / profile.memory_rate * profile.memory_reference.value() / memory_mhz;
  const double kernels = std::max(compute, memory);
  const double total = kernels + segment.fixed_s;
  return {total, compute / total, memory / total, kernels / total};
}

double segment_left(const ContextState& context, const GpuState& state, const Profile& profile) {
  const SegmentRun run = run_of(context.segments[context.segment], state, profile);
  return (1.0 - context.done) * run.seconds * scale_of(context, context.completed);
}

void execute(ContextState& context, const GpuState& state, const Profile& profile, double seconds,
             std::int64_t now_ns) {
  const double whole = run_of(context.segments[context.segment], state, profile).seconds *
                       scale_of(context, context.completed);
  context.done += seconds / whole;
  if ((1.0 - context.done) * whole > kRounding) return;
  context.done = 0.0;
  if (++context.segment < context.segment_count) return;
  context.segment = 0;
  context.completed_ns[context.completed % kMostQueued] = now_ns;
  ++context.completed;
}

std::optional<TimePoint> completion_of(const ContextState& context, const GpuState& state,
                                       const Profile& profile, std::uint64_t index) {
  if (index >= context.submitted || index + kMostQueued < context.completed) return std::nullopt;
  if (index < context.completed) return TimePoint{context.completed_ns[index % kMostQueued]};
  double iteration = 0.0;
  double rest = 0.0;
  for (std::uint32_t i = 0; i < context.segment_count; ++i) {
    const double seconds = run_of(context.segments[i], state, profile).seconds;
    iteration += seconds;
    if (i > context.segment) rest += seconds;
  }
  double alone = segment_left(context, state, profile) + rest * scale_of(context, context.completed);
  for (std::uint64_t i = context.completed + 1; i <= index; ++i) alone += iteration * scale_of(context, i);
  const auto sharers = std::count_if(std::begin(state.contexts), std::end(state.contexts),
                                     [](const ContextState& c) { return c.runnable(); });
  // Never early by rounding: whoever waits for it would wake in vain.
  return TimePoint{state.now_ns +
                   static_cast<std::int64_t>(std::ceil(alone * static_cast<double>(sharers) * 1e9)) + 1};
}

}  // namespace rubato::device::sim
