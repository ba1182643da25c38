// A training as the world's event: passive, so that it runs in virtual time as well as in a process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "core/iteration.h"
#include "simgpu/trainer/kernel_sequence.h"
#include "simgpu/trainer/work_queue.h"

namespace rubato::sim_trainer {

struct TrainOptions {
  std::string workload = "resnet50";
  int iterations = 100;
  int iterations_per_epoch = 0;  // 0: the whole training is one epoch
  int gpu = 0;                   // of the world; a process prefers the first of RUBATO_SIM_GPUS
  std::vector<int> beside;       // more GPUs that do the same in step: an iteration ends with the slowest
  std::uint64_t seed = 1;
  std::optional<double> jitter;  // standard deviation of an iteration's length; absent: the workload's own
};

/// Host marks as a framework gives them: the host runs one iteration ahead of the GPU, so iteration k ends
/// for it when the GPU has completed k - 1. Times are those of the GPU, not of whoever calls step().
class VirtualTrainer {
 public:
  using OnMark = std::function<void(const Mark&)>;
  using OnIteration = std::function<void(const GpuIteration&)>;

  /// `world` outlives the trainer. `pid` is what the GPU shows as its process. On a replayed GPU the workload
  /// is the table's own and options.workload says nothing.
  [[nodiscard]] static Result<std::unique_ptr<VirtualTrainer>> start(device::sim::SimWorld& world,
                                                                     const TrainOptions& options,
                                                                     std::int64_t pid, TimePoint now,
                                                                     OnMark on_mark);
  [[nodiscard]] static Result<std::unique_ptr<VirtualTrainer>> start(device::replay::ReplayWorld& world,
                                                                     const TrainOptions& options,
                                                                     std::int64_t pid, TimePoint now,
                                                                     OnMark on_mark);
  ~VirtualTrainer();
  VirtualTrainer(const VirtualTrainer&) = delete;
  VirtualTrainer& operator=(const VirtualTrainer&) = delete;

  /// Told of each iteration when the GPU has completed it; not on a replayed GPU, whose table knows of none
  /// inside.
  void watch_gpu(OnIteration on_iteration) { on_iteration_ = std::move(on_iteration); }

  /// When something happens next if nothing changes; nothing once it has finished.
  [[nodiscard]] std::optional<TimePoint> next_due() const { return next_due_; }
  /// Does what is due. Early and late calls do no harm.
  [[nodiscard]] Status step(TimePoint now);
  [[nodiscard]] bool finished() const { return !next_due_; }
  /// Iterations the GPU is known to have completed.
  [[nodiscard]] std::uint64_t completed() const { return finished() ? waiting_for_ + 1 : waiting_for_; }
  /// Takes the compute context off the GPU, as the driver does when a process ends.
  void remove(TimePoint now);

 private:
  VirtualTrainer(std::unique_ptr<WorkQueue> queue, const TrainOptions& options, std::int64_t pid,
                 OnMark on_mark);
  static Result<std::unique_ptr<VirtualTrainer>> start_on(Result<std::unique_ptr<WorkQueue>> queue,
                                                          const TrainOptions& options, std::int64_t pid,
                                                          TimePoint now, OnMark on_mark);
  Status begin(TimePoint at, TimePoint now);
  Status go_on(TimePoint at, TimePoint now);
  void mark(TimePoint at, std::uint32_t kind, std::uint64_t id) const;
  [[nodiscard]] std::uint64_t epoch_of(std::uint64_t iteration) const;
  [[nodiscard]] bool starts_epoch(std::uint64_t iteration) const;
  Status look_ahead(TimePoint now);
  Status tell_iteration(TimePoint end, TimePoint now);

  std::unique_ptr<WorkQueue> queue_;  // gone once the context was removed
  TrainOptions options_;
  std::int64_t pid_;
  OnMark on_mark_;
  OnIteration on_iteration_;
  TimePoint gpu_begin_;  // of the iteration it is waited for
  double jitter_ = 0.0;
  Random random_;
  std::uint64_t running_ = 0;      // the host's iteration
  std::uint64_t waiting_for_ = 0;  // the GPU's iteration whose completion lets the host go on
  bool launched_all_ = false;
  std::optional<TimePoint> next_due_;
};

}  // namespace rubato::sim_trainer
