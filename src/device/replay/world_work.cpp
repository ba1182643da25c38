#include <cerrno>
#include <csignal>

#include "base/text.h"
#include "device/replay/world_impl.h"

namespace rubato::device::replay {
namespace {

bool is_here(const GpuState& state, ContextId id) {
  return id.value != 0 && state.context.id == id.value;
}

Error no_context() {
  return {ErrorCode::not_found, "this program's compute context is no longer on the replayed GPU", {}};
}

void drop_dead(GpuState& state) {
  if (state.context.id != 0 && ::kill(static_cast<pid_t>(state.context.pid), 0) != 0 && errno == ESRCH)
    state.context = {};
}

}  // namespace

Result<std::vector<ComputeProcess>> ReplayWorld::read_processes(unsigned gpu, TimePoint now) {
  std::vector<ComputeProcess> out;
  const Status reached = impl_->at(gpu, now, [&](GpuState& state) {
    if (impl_->in_file()) drop_dead(state);
    if (state.context.id != 0) out.push_back({.pid = state.context.pid, .memory_bytes = std::nullopt});
  });
  if (!reached) return fail(reached.error());
  return out;
}

Result<ContextId> ReplayWorld::add_context(unsigned gpu, std::int64_t pid, TimePoint now) {
  std::optional<std::int64_t> taken_by;
  ContextId id;
  const Status reached = impl_->at(gpu, now, [&](GpuState& state) {
    if (impl_->in_file()) drop_dead(state);
    if (state.context.id != 0) {
      taken_by = state.context.pid;
      return;
    }
    state.context = {};
    id.value = state.context.id = ++state.last_context;
    state.context.pid = pid;
  });
  if (!reached) return fail(reached.error());
  if (taken_by)
    return fail(ErrorCode::busy, cat("GPU ", gpu, " (", identity(gpu).name, "): process ", *taken_by,
                                     " computes here, and the table knows its workload only alone on a GPU"));
  return id;
}

Status ReplayWorld::submit(unsigned gpu, ContextId id, double scale, TimePoint now) {
  if (!(scale > 0.0 && scale < 1e3))
    return fail(ErrorCode::invalid_argument, cat("an iteration cannot be scaled by ", scale));
  Status result;
  const Status reached = impl_->at(gpu, now, [&](GpuState& state) {
    ContextState& context = state.context;
    if (!is_here(state, id)) {
      result = fail(no_context());
    } else if (context.submitted - context.completed >= kMostQueued) {
      result = fail(ErrorCode::busy,
                    cat("the queue of the replayed GPU is full: ", kMostQueued, " iterations wait"));
    } else {
      context.scale[context.submitted % kMostQueued] = scale;
      ++context.submitted;
    }
  });
  return reached ? result : reached;
}

Result<std::uint64_t> ReplayWorld::completed(unsigned gpu, ContextId id, TimePoint now) {
  std::optional<std::uint64_t> out;
  const Status reached = impl_->at(gpu, now, [&](GpuState& state) {
    if (is_here(state, id)) out = state.context.completed;
  });
  if (!reached) return fail(reached.error());
  if (!out) return fail(no_context());
  return *out;
}

Result<TimePoint> ReplayWorld::completion(unsigned gpu, ContextId id, std::uint64_t index, TimePoint now) {
  std::optional<TimePoint> out;
  const Status reached = impl_->at(gpu, now, [&](GpuState& state) {
    if (is_here(state, id)) out = completion_of(state, board(gpu), index);
  });
  if (!reached) return fail(reached.error());
  if (!out)
    return fail(ErrorCode::not_found, cat("iteration ", index, " was not submitted, or completed long ago"));
  return *out;
}

Status ReplayWorld::remove_context(unsigned gpu, ContextId id, TimePoint now) {
  Status result;
  const Status reached = impl_->at(gpu, now, [&](GpuState& state) {
    if (is_here(state, id))
      state.context = {};
    else
      result = fail(no_context());
  });
  return reached ? result : reached;
}

}  // namespace rubato::device::replay
