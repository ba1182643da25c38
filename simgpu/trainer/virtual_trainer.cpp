#include "simgpu/trainer/virtual_trainer.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "rubato/mark_layout.h"

namespace rubato::sim_trainer {

namespace {

Status check(const TrainOptions& options) {
  if (options.iterations < 1)
    return fail(ErrorCode::invalid_argument,
                cat("a training has at least 1 iteration, not ", options.iterations));
  std::set<int> gpus{options.gpu};
  gpus.insert(options.beside.begin(), options.beside.end());
  if (*gpus.begin() < 0)
    return fail(ErrorCode::invalid_argument, cat("a GPU has no negative index: ", *gpus.begin()));
  if (gpus.size() != options.beside.size() + 1)
    return fail(ErrorCode::invalid_argument, "a training in step runs on each of its GPUs once");
  return {};
}

/// One queue, or several in step. `open`: the queue on the GPU of this index.
Result<std::unique_ptr<WorkQueue>> queue_for(
    const TrainOptions& options,
    const std::function<Result<std::unique_ptr<WorkQueue>>(unsigned gpu)>& open) {
  auto first = open(static_cast<unsigned>(options.gpu));
  if (!first || options.beside.empty()) return first;
  std::vector<std::unique_ptr<WorkQueue>> queues;
  queues.push_back(std::move(*first));
  for (const int gpu : options.beside) {
    auto next = open(static_cast<unsigned>(gpu));
    if (!next) return fail(next.error());
    queues.push_back(std::move(*next));
  }
  return in_step(std::move(queues));
}

}  // namespace

VirtualTrainer::VirtualTrainer(std::unique_ptr<WorkQueue> queue, const TrainOptions& options,
                               std::int64_t pid, OnMark on_mark)
    : queue_(std::move(queue)),
      options_(options),
      pid_(pid),
      on_mark_(std::move(on_mark)),
      jitter_(options.jitter.value_or(queue_->jitter())),
      random_(options.seed) {}

VirtualTrainer::~VirtualTrainer() {
  if (queue_) remove(queue_->now());
}

Result<std::unique_ptr<VirtualTrainer>> VirtualTrainer::start(device::sim::SimWorld& world,
                                                              const TrainOptions& options, std::int64_t pid,
                                                              TimePoint now, OnMark on_mark) {
  if (Status sane = check(options); !sane) return fail(sane.error());
  return start_on(
      queue_for(options, [&](unsigned gpu) { return queue_on(world, gpu, options.workload, pid, now); }),
      options, pid, now, std::move(on_mark));
}

Result<std::unique_ptr<VirtualTrainer>> VirtualTrainer::start(device::replay::ReplayWorld& world,
                                                              const TrainOptions& options, std::int64_t pid,
                                                              TimePoint now, OnMark on_mark) {
  if (Status sane = check(options); !sane) return fail(sane.error());
  return start_on(queue_for(options, [&](unsigned gpu) { return queue_on(world, gpu, pid, now); }), options,
                  pid, now, std::move(on_mark));
}

Result<std::unique_ptr<VirtualTrainer>> VirtualTrainer::start_on(Result<std::unique_ptr<WorkQueue>> queue,
                                                                 const TrainOptions& options,
                                                                 std::int64_t pid, TimePoint now,
                                                                 OnMark on_mark) {
  if (!queue) return fail(queue.error());
  std::unique_ptr<VirtualTrainer> trainer(
      new VirtualTrainer(std::move(*queue), options, pid, std::move(on_mark)));
  trainer->gpu_begin_ = now;
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
  return queue_->submit(scale, now);
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
  const Result<std::uint64_t> completed = queue_->completed(now);
  if (!completed) return fail(completed.error());
  // A late caller finds several completed: each is told at its own time.
  while (waiting_for_ < *completed) {
    const Result<TimePoint> at = queue_->completion(waiting_for_, now);
    if (!at) return fail(at.error());
    if (Status s = tell_iteration(*at, now); !s) return s;
    if (launched_all_) {
      mark(*at, RUBATO_MARK_EPOCH_END, epoch_of(running_));
      next_due_.reset();
      return {};
    }
    if (Status s = go_on(*at, now); !s) return s;
  }
  return look_ahead(now);
}

Status VirtualTrainer::tell_iteration(TimePoint end, TimePoint now) {
  const TimePoint begin = std::exchange(gpu_begin_, end);
  if (!on_iteration_ || queue_->segments().empty()) return {};
  Result<std::vector<device::sim::SegmentRun>> runs = queue_->segment_runs(now);
  if (!runs) return fail(runs.error());
  on_iteration_({.index = waiting_for_,
                 .begin = begin,
                 .end = end,
                 .segments = queue_->segments(),
                 .runs = std::move(*runs)});
  return {};
}

Status VirtualTrainer::look_ahead(TimePoint now) {
  const Result<TimePoint> due = queue_->completion(waiting_for_, now);
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
  if (!queue_) return;
  queue_->remove(now);
  queue_.reset();
}

}  // namespace rubato::sim_trainer
