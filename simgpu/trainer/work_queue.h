// Where a training puts its iterations: the queue of one GPU that is not real. The world has to outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "device/replay/world.h"
#include "device/sim/progress.h"
#include "device/sim/world.h"

namespace rubato::sim_trainer {

class WorkQueue {
 public:
  virtual ~WorkQueue() = default;

  /// One more iteration, `scale` times as long as usual.
  [[nodiscard]] virtual Status submit(double scale, TimePoint now) = 0;
  [[nodiscard]] virtual Result<std::uint64_t> completed(TimePoint now) = 0;
  /// When iteration `index` completed or, if nothing changes, will.
  [[nodiscard]] virtual Result<TimePoint> completion(std::uint64_t index, TimePoint now) = 0;
  /// Takes the compute context off the GPU.
  virtual void remove(TimePoint now) = 0;
  /// Of the world.
  [[nodiscard]] virtual TimePoint now() const = 0;
  /// What an iteration consists of; nothing on a replayed GPU, whose table does not say.
  [[nodiscard]] virtual const std::vector<device::sim::Segment>& segments() const = 0;
  /// How long each takes alone on the GPU at the present clocks.
  [[nodiscard]] virtual Result<std::vector<device::sim::SegmentRun>> segment_runs(TimePoint now) = 0;
  /// Usual standard deviation of an iteration's length, as a fraction.
  [[nodiscard]] virtual double jitter() const = 0;
};

/// Puts a compute context of `pid` on the GPU. not_found lists the workloads there are.
[[nodiscard]] Result<std::unique_ptr<WorkQueue>> queue_on(device::sim::SimWorld& world, unsigned gpu,
                                                          std::string_view workload, std::int64_t pid,
                                                          TimePoint now);
/// The workload is the table's own.
[[nodiscard]] Result<std::unique_ptr<WorkQueue>> queue_on(device::replay::ReplayWorld& world, unsigned gpu,
                                                          std::int64_t pid, TimePoint now);

/// Boards that wait for each other: an iteration is on all of them, and is over with the slowest. What it
/// consists of is told of the first. At least one.
[[nodiscard]] std::unique_ptr<WorkQueue> in_step(std::vector<std::unique_ptr<WorkQueue>> boards);

}  // namespace rubato::sim_trainer
