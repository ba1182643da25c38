#include <cerrno>
#include <cmath>
#include <csignal>

#include "base/text.h"
#include "device/sim/progress.h"
#include "device/sim/world_impl.h"

namespace rubato::device::sim {
namespace {

ContextState* find_context(GpuState& state, ContextId id) {
  for (ContextState& context : state.contexts)
    if (context.id == id.value && id.value != 0) return &context;
  return nullptr;
}

Error no_context() {
  return {ErrorCode::not_found, "this program's compute context is no longer on the simulated GPU", {}};
}

void drop_dead(GpuState& state) {
  for (ContextState& context : state.contexts)
    if (context.id != 0 && ::kill(static_cast<pid_t>(context.pid), 0) != 0 && errno == ESRCH) context = {};
}

// Clocks settle within this; further on the present ones are taken to stay.
constexpr Seconds kForesight{10.0};

// The GPU's own future, lived through on a copy: at the present clocks alone an estimate would be far off
// whenever they are about to rise.
std::optional<TimePoint> foresee(const GpuState& state, const Profile& profile, std::size_t context,
                                 std::uint64_t index) {
  const auto estimate = [&](const GpuState& s) {
    return completion_of(s.contexts[context], s, profile, index);
  };
  if (index >= state.contexts[context].submitted || index < state.contexts[context].completed)
    return estimate(state);
  GpuState future = state;
  const TimePoint horizon = TimePoint{state.now_ns} + kForesight;
  while (future.now_ns < horizon.ns && future.contexts[context].completed <= index)
    advance(future, profile, TimePoint{future.tick_end_ns});
  return estimate(future);
}

}  // namespace

Result<std::vector<ComputeProcess>> SimWorld::read_processes(unsigned gpu, TimePoint now) {
  const Result<Twist> twist = impl_->enter(CallId::read_processes, gpu, now);
  if (!twist) return fail(twist.error());
  std::vector<ComputeProcess> out;
  const Status reached = impl_->drive(gpu, now, [&](GpuState& state) {
    if (impl_->in_file()) drop_dead(state);
    for (const ContextState& context : state.contexts)
      if (context.id != 0) out.push_back({.pid = context.pid, .memory_bytes = context.memory_bytes});
  });
  if (!reached) return fail(reached.error());
  return out;
}

Result<ContextId> SimWorld::add_context(unsigned gpu, std::int64_t pid, std::uint64_t memory_bytes,
                                        std::span<const Segment> iteration, TimePoint now) {
  if (Status sane = check_segments(iteration); !sane) return fail(sane.error());
  ContextId id;
  const Status reached = impl_->drive(gpu, now, [&](GpuState& state) {
    if (impl_->in_file()) drop_dead(state);
    for (ContextState& context : state.contexts) {
      if (context.id != 0) continue;
      context = {};
      context.id = ++state.last_context;
      context.pid = pid;
      context.memory_bytes = memory_bytes;
      context.segment_count = static_cast<std::uint32_t>(iteration.size());
      std::copy(iteration.begin(), iteration.end(), context.segments);
      id.value = context.id;
      return;
    }
  });
  if (!reached) return fail(reached.error());
  if (id.value == 0)
    return fail(ErrorCode::busy, cat("GPU ", gpu, " (", identity(gpu).name, ", simulated) holds ",
                                     kMostContexts, " compute contexts already, which is all it can"));
  return id;
}

Status SimWorld::submit(unsigned gpu, ContextId id, double scale, TimePoint now) {
  if (!(scale > 0.0 && scale < 1e3))
    return fail(ErrorCode::invalid_argument, cat("an iteration cannot be scaled by ", scale));
  Status result;
  const Status reached = impl_->at(gpu, now, [&](GpuState& state) {
    ContextState* context = find_context(state, id);
    if (context == nullptr) {
      result = fail(no_context());
    } else if (context->submitted - context->completed >= kMostQueued) {
      result = fail(ErrorCode::busy,
                    cat("the queue of the simulated GPU is full: ", kMostQueued, " iterations wait"));
    } else {
      context->scale[context->submitted % kMostQueued] = scale;
      ++context->submitted;
    }
  });
  return reached ? result : reached;
}

Result<Progress> SimWorld::progress(unsigned gpu, ContextId id, TimePoint now) {
  std::optional<Progress> out;
  const Status reached = impl_->at(gpu, now, [&](GpuState& state) {
    const ContextState* context = find_context(state, id);
    if (context == nullptr) return;
    out.emplace();
    out->submitted = context->submitted;
    out->completed = context->completed;
    if (context->completed > 0)
      out->last_completion = completion_of(*context, state, profile(gpu), context->completed - 1);
    out->fraction = (context->segment + context->done) / context->segment_count;
  });
  if (!reached) return fail(reached.error());
  if (!out) return fail(no_context());
  return *out;
}

Result<TimePoint> SimWorld::completion(unsigned gpu, ContextId id, std::uint64_t index, TimePoint now) {
  std::optional<TimePoint> out;
  const Status reached = impl_->at(gpu, now, [&](GpuState& state) {
    if (const ContextState* context = find_context(state, id))
      out = foresee(state, profile(gpu), static_cast<std::size_t>(context - state.contexts), index);
  });
  if (!reached) return fail(reached.error());
  if (!out)
    return fail(ErrorCode::not_found, cat("iteration ", index, " was not submitted, or completed long ago"));
  return *out;
}

Status SimWorld::remove_context(unsigned gpu, ContextId id, TimePoint now) {
  Status result;
  const Status reached = impl_->at(gpu, now, [&](GpuState& state) {
    if (ContextState* context = find_context(state, id))
      *context = {};
    else
      result = fail(no_context());
  });
  return reached ? result : reached;
}

}  // namespace rubato::device::sim
