#include "device/replay/progress.h"

#include <cmath>

namespace rubato::device::replay {
namespace {

/// Whole nanoseconds, never fewer than it takes: whoever waits for the end would wake in vain.
std::int64_t whole_ns(double seconds) {
  constexpr double kRounding = 0.25;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(seconds * 1e9 - kRounding)));
}

double length(const ContextState& context, std::uint64_t iteration, const Point& point) {
  return point.time.value() * context.scale[iteration % kMostQueued];
}

}  // namespace

void advance(GpuState& state, const Board& board, TimePoint now) {
  ContextState& context = state.context;
  while (state.now_ns < now.ns && context.runs()) {
    const Point point = board.at(state.in_force);
    const double whole = length(context, context.completed, point);
    const double left = (1.0 - context.done) * whole;
    const std::int64_t left_ns = whole_ns(left);
    if (state.now_ns + left_ns > now.ns) {
      const double passed = static_cast<double>(now.ns - state.now_ns) * 1e-9;
      context.done = std::min(1.0, context.done + passed / whole);
      state.energy_j += point.power.value() * std::min(passed, left);
      state.now_ns = now.ns;
      return;
    }
    state.energy_j += point.power.value() * left;
    state.now_ns += left_ns;
    context.done = 0.0;
    context.completed_ns[context.completed % kMostQueued] = state.now_ns;
    ++context.completed;
    state.in_force = state.asked;
  }
  if (state.now_ns >= now.ns) return;
  // What a GPU draws while nothing runs stands in no table, so it is not counted.
  state.in_force = state.asked;
  state.now_ns = now.ns;
}

std::optional<TimePoint> completion_of(const GpuState& state, const Board& board, std::uint64_t index) {
  const ContextState& context = state.context;
  if (index >= context.submitted || index + kMostQueued < context.completed) return std::nullopt;
  if (index < context.completed) return TimePoint{context.completed_ns[index % kMostQueued]};
  std::int64_t at = state.now_ns;
  at += whole_ns((1.0 - context.done) * length(context, context.completed, board.at(state.in_force)));
  const Point later = board.at(state.asked);
  for (std::uint64_t i = context.completed + 1; i <= index; ++i) at += whole_ns(length(context, i, later));
  return TimePoint{at};
}

}  // namespace rubato::device::replay
