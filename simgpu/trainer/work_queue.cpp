#include "simgpu/trainer/work_queue.h"

#include <algorithm>
#include <utility>

namespace rubato::sim_trainer {
namespace {

class SimQueue final : public WorkQueue {
 public:
  SimQueue(device::sim::SimWorld& world, unsigned gpu, device::sim::ContextId context,
           const device::sim::Workload& workload)
      : world_(world), gpu_(gpu), context_(context), segments_(workload.segments), jitter_(workload.jitter) {}

  Status submit(double scale, TimePoint now) override { return world_.submit(gpu_, context_, scale, now); }
  Result<std::uint64_t> completed(TimePoint now) override {
    return world_.progress(gpu_, context_, now).map([](const auto& p) { return p.completed; });
  }
  Result<TimePoint> completion(std::uint64_t index, TimePoint now) override {
    return world_.completion(gpu_, context_, index, now);
  }
  // Nothing to do about a failure: the GPU drops contexts of dead processes by itself.
  void remove(TimePoint now) override { static_cast<void>(world_.remove_context(gpu_, context_, now)); }
  TimePoint now() const override { return world_.clock()->now(); }
  const std::vector<device::sim::Segment>& segments() const override { return segments_; }
  Result<std::vector<device::sim::SegmentRun>> segment_runs(TimePoint now) override {
    const Result<device::sim::Truth> truth = world_.truth(gpu_, now);
    if (!truth) return fail(truth.error());
    std::vector<device::sim::SegmentRun> out;
    for (const device::sim::Segment& s : segments_)
      out.push_back(
          device::sim::run_of(s, world_.profile(gpu_), truth->sm_clock.value(), truth->memory_clock.value()));
    return out;
  }
  double jitter() const override { return jitter_; }

 private:
  device::sim::SimWorld& world_;
  unsigned gpu_;
  device::sim::ContextId context_;
  std::vector<device::sim::Segment> segments_;
  double jitter_;
};

class ReplayQueue final : public WorkQueue {
 public:
  ReplayQueue(device::replay::ReplayWorld& world, unsigned gpu, device::replay::ContextId context)
      : world_(world), gpu_(gpu), context_(context) {}

  Status submit(double scale, TimePoint now) override { return world_.submit(gpu_, context_, scale, now); }
  Result<std::uint64_t> completed(TimePoint now) override { return world_.completed(gpu_, context_, now); }
  Result<TimePoint> completion(std::uint64_t index, TimePoint now) override {
    return world_.completion(gpu_, context_, index, now);
  }
  void remove(TimePoint now) override { static_cast<void>(world_.remove_context(gpu_, context_, now)); }
  TimePoint now() const override { return world_.clock()->now(); }
  const std::vector<device::sim::Segment>& segments() const override { return no_segments_; }
  Result<std::vector<device::sim::SegmentRun>> segment_runs(TimePoint) override { return {}; }
  // A table has one time for each setting.
  double jitter() const override { return 0.0; }

 private:
  device::replay::ReplayWorld& world_;
  unsigned gpu_;
  device::replay::ContextId context_;
  std::vector<device::sim::Segment> no_segments_;
};

class StepQueue final : public WorkQueue {
 public:
  explicit StepQueue(std::vector<std::unique_ptr<WorkQueue>> boards) : boards_(std::move(boards)) {}
  Status submit(double scale, TimePoint now) override {
    for (auto& board : boards_)
      if (Status s = board->submit(scale, now); !s) return s;
    return {};
  }
  Result<std::uint64_t> completed(TimePoint now) override {
    return slowest<std::uint64_t>([&](WorkQueue& board) { return board.completed(now); },
                                  [](auto a, auto b) { return std::min(a, b); });
  }
  Result<TimePoint> completion(std::uint64_t index, TimePoint now) override {
    return slowest<TimePoint>([&](WorkQueue& board) { return board.completion(index, now); },
                              [](auto a, auto b) { return std::max(a, b); });
  }
  void remove(TimePoint now) override {
    for (auto& board : boards_) board->remove(now);
  }
  TimePoint now() const override { return boards_.front()->now(); }
  const std::vector<device::sim::Segment>& segments() const override { return boards_.front()->segments(); }
  Result<std::vector<device::sim::SegmentRun>> segment_runs(TimePoint now) override {
    return boards_.front()->segment_runs(now);
  }
  double jitter() const override { return boards_.front()->jitter(); }

 private:
  template <class T, class Ask, class Worse>
  Result<T> slowest(const Ask& ask, const Worse& worse) {
    Result<T> out = ask(*boards_.front());
    for (std::size_t i = 1; out && i < boards_.size(); ++i) {
      const Result<T> next = ask(*boards_[i]);
      if (!next) return fail(next.error());
      out = worse(*out, *next);
    }
    return out;
  }

  std::vector<std::unique_ptr<WorkQueue>> boards_;
};

}  // namespace

std::unique_ptr<WorkQueue> in_step(std::vector<std::unique_ptr<WorkQueue>> boards) {
  return std::make_unique<StepQueue>(std::move(boards));
}

Result<std::unique_ptr<WorkQueue>> queue_on(device::sim::SimWorld& world, unsigned gpu,
                                            std::string_view workload, std::int64_t pid, TimePoint now) {
  const Result<const device::sim::Workload*> found = device::sim::find_workload(workload);
  if (!found) return fail(found.error());
  const device::sim::Workload& w = **found;
  const auto context = world.add_context(gpu, pid, w.memory_bytes, w.segments, now);
  if (!context) return fail(context.error());
  return std::make_unique<SimQueue>(world, gpu, *context, w);
}

Result<std::unique_ptr<WorkQueue>> queue_on(device::replay::ReplayWorld& world, unsigned gpu,
                                            std::int64_t pid, TimePoint now) {
  const auto context = world.add_context(gpu, pid, now);
  if (!context) return fail(context.error());
  return std::make_unique<ReplayQueue>(world, gpu, *context);
}

}  // namespace rubato::sim_trainer
