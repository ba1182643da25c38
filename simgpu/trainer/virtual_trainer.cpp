#include "simgpu/trainer/virtual_trainer.h"

#include <algorithm>

#include "base/text.h"
#include "rubato/mark_layout.h"

namespace rubato::sim_trainer {
VirtualTrainer::VirtualTrainer(device::sim::SimWorld& world, const TrainOptions& options, std::int64_t pid,
                               OnMark on_mark)
    : world_(world),
      options_(options),
      pid_(pid),
      on_mark_(std::move(on_mark)),
      gpu_(static_cast<unsigned>(options.gpu)),
      random_(options.seed) {}

VirtualTrainer::~VirtualTrainer() {
  if (context_) remove(world_.clock()->now());
}

Result<std::unique_ptr<VirtualTrainer>> VirtualTrainer::start(device::sim::SimWorld& world,
                                                              const TrainOptions& options, std::int64_t pid,
                                                              TimePoint now, OnMark on_mark) {
  const Result<const device::sim::Workload*> workload = device::sim::find_workload(options.workload);
  if (!workload) return fail(workload.error());
  const device::sim::Workload& found = **workload;
  if (options.iterations < 1)
    return fail(ErrorCode::invalid_argument,
                cat("a training has at least 1 iteration, not ", options.iterations));
  if (options.gpu < 0)
    return fail(ErrorCode::invalid_argument, cat("a GPU has no negative index: ", options.gpu));
  std::unique_ptr<VirtualTrainer> trainer(new VirtualTrainer(world, options, pid, std::move(on_mark)));
  trainer->jitter_ = options.jitter.value_or(found.jitter);
  const Result<device::sim::ContextId> context =
      world.add_context(trainer->gpu_, pid, found.memory_bytes, found.segments, now);
  if (!context) return fail(context.error());
  trainer->context_ = *context;
  // With an empty queue the host is through with its first iteration at once, and begins the second.
  if (Status s = trainer->begin(now, now); !s) return fail(s.error());
  if (Status s = trainer->go_on(now, now); !s) return fail(s.error());
  if (Status s = trainer->look_ahead(now); !s) return fail(s.error());
  return trainer;
}

Status VirtualTrainer::begin(TimePoint at, TimePoint now) {
  if (starts_epoch(running_)) mark(at, RUBATO_MARK_EPOCH_BEGIN, epoch_of(running_));
  mark(at, RUBATO_MARK_ITERATION_BEGIN, running_);
  const double scale = std::max(0.5, 1.0 + jitter_ * random_.normal());
  return world_.submit(gpu_, *context_, scale, now);
}

Status VirtualTrainer::go_on(TimePoint at, TimePoint now) {
  mark(at, RUBATO_MARK_ITERATION_END, running_);
  if (running_ + 1 == static_cast<std::uint64_t>(options_.iterations)) {
    launched_all_ = true;
    waiting_for_ = running_;
    return {};
  }
  if (starts_epoch(running_ + 1)) mark(at, RUBATO_MARK_EPOCH_END, epoch_of(running_));
  waiting_for_ = running_++;
  return begin(at, now);
}

Status VirtualTrainer::step(TimePoint now) {
  if (finished()) return {};
  const Result<device::sim::Progress> progress = world_.progress(gpu_, *context_, now);
  if (!progress) return fail(progress.error());
  // A late caller finds several completed: each is told at its own time.
  while (waiting_for_ < progress->completed) {
    const Result<TimePoint> at = world_.completion(gpu_, *context_, waiting_for_, now);
    if (!at) return fail(at.error());
    if (launched_all_) {
      mark(*at, RUBATO_MARK_EPOCH_END, epoch_of(running_));
      next_due_.reset();
      return {};
    }
    if (Status s = go_on(*at, now); !s) return s;
  }
  return look_ahead(now);
}

Status VirtualTrainer::look_ahead(TimePoint now) {
  const Result<TimePoint> due = world_.completion(gpu_, *context_, waiting_for_, now);
  if (!due) return fail(due.error());
  next_due_ = *due;
  return {};
}

std::uint64_t VirtualTrainer::epoch_of(std::uint64_t iteration) const {
  return options_.iterations_per_epoch > 0
             ? iteration / static_cast<std::uint64_t>(options_.iterations_per_epoch)
             : 0;
}

bool VirtualTrainer::starts_epoch(std::uint64_t iteration) const {
  return iteration == 0 || epoch_of(iteration) != epoch_of(iteration - 1);
}

void VirtualTrainer::mark(TimePoint at, std::uint32_t kind, std::uint64_t id) const {
  if (!on_mark_) return;
  on_mark_({.at = at,
            .kind = kind,
            .flags = RUBATO_MARK_FLAG_SIMULATED,
            .id = id,
            .pid = static_cast<std::int32_t>(pid_),
            .tid = static_cast<std::int32_t>(pid_)});
}

void VirtualTrainer::remove(TimePoint now) {
  if (!context_) return;
  // Nothing to do about a failure: the GPU drops contexts of dead processes by itself.
  static_cast<void>(world_.remove_context(gpu_, *context_, now));
  context_.reset();
}

}  // namespace rubato::sim_trainer
