// Finds the job's iteration while it runs: marks, kernels and each GPU's telemetry go in, statements and
// iterations come out. Which source is believed is the arbiter's ruling (progress/arbiter.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "conduct/counted_unit.h"
#include "conduct/kernel_reader.h"
#include "core/gpu_id.h"
#include "core/iteration.h"
#include "core/iteration_estimate.h"
#include "core/sample.h"
#include "progress/arbiter.h"
#include "progress/iteration_tracker.h"
#include "progress/kernel_sequence.h"
#include "progress/mark_estimate.h"
#include "progress/telemetry.h"
#include "progress/tuning.h"
#include "record/types.h"

namespace rubato::conduct {

struct WatchedGpu {
  GpuId id;
  progress::TelemetryFacts sensor;
};

struct IterationNews {
  std::vector<record::IterationStatement> statements;
  std::vector<record::RateStatement> rates;
  /// Where the program marks none: of the best other source that follows every one. Indices count on.
  std::vector<progress::TrackedIteration> iterations;
  std::optional<progress::TuningState> tuning;  // where it changed
  bool found = false;                           // the ruling is another than it was, and worth telling
};

class IterationWatch {
 public:
  explicit IterationWatch(std::vector<WatchedGpu> gpus);

  void fast(std::size_t gpu, const FastReading& reading);
  void slow(std::size_t gpu, const SlowReading& reading);
  void kernels(const KernelNews& news);
  /// Iterations the program itself marks; from the first one on no other source's are given out.
  void marked(const progress::TrackedIteration& tracked);
  void setting_changed(TimePoint at);

  /// `used`: which GPUs the job computes on. An idle board's telemetry is nobody's.
  /// At the `last` step every source has its last word.
  [[nodiscard]] IterationNews step(TimePoint now, const std::vector<bool>& used, bool last = false);

  [[nodiscard]] const progress::Ruling& ruling() const { return ruling_; }
  [[nodiscard]] progress::TuningState tuning() const { return tuning_.state(); }
  /// Given out by step() so far, and the end of the latest.
  [[nodiscard]] std::int64_t given_out() const { return given_out_; }
  [[nodiscard]] std::optional<TimePoint> last_end() const { return last_end_; }
  /// Kernels that were not looked at, as they ran on more GPUs than are followed.
  [[nodiscard]] std::uint64_t kernels_elsewhere() const { return kernels_elsewhere_; }

 private:
  using DeviceKey = std::array<std::uint8_t, 16>;
  struct Telemetry {
    GpuId id;
    progress::TelemetryFacts sensor;
    std::unique_ptr<progress::PeriodDetector> detector;
    std::unique_ptr<progress::PeriodDetector> anew;  // since a setting was changed or a rest ended, if it did
    TimePoint anew_from;
    CountedUnit unit;
    std::optional<TimePoint> resting_since;
    bool at_work = false;  // its iterations were found once: what rests from now on is a part of them
    SlowReading slow;      // columns that wait for the next tick
    std::deque<progress::TelemetryPoint> latest;
  };

  /// Of one that was read before the job went to work, unless it is sure already.
  static void follow_rests(Telemetry& one, const SlowReading& reading);
  static void hand_over(Telemetry& one);
  void hear_telemetry(TimePoint now, const std::vector<bool>& used, bool last, IterationNews& news);
  void hear_kernels(IterationNews& news);
  void tell_statements(IterationNews& news, bool last);
  void tell_rate(TimePoint now, IterationNews& news);
  void give_out(const std::vector<Iteration>& iterations, ProgressSource source, IterationNews& news);
  [[nodiscard]] bool telemetry_counts() const;

  std::vector<Telemetry> telemetry_;
  std::optional<std::size_t> heard_gpu_;  // whose telemetry the arbiter was told
  bool counted_ = false;                  // iterations were, by telemetry
  std::map<DeviceKey, progress::KernelSequence> kernels_;
  std::optional<DeviceKey> heard_device_;
  std::uint64_t kernels_elsewhere_ = 0;
  progress::MarkEstimate marks_;
  std::optional<TimePoint> last_mark_;
  progress::Arbiter arbiter_;
  progress::Ruling ruling_;
  progress::TuningWatch tuning_;
  std::optional<bool> was_tuning_;
  std::array<std::optional<record::IterationStatement>, 3> told_;  // by source
  std::optional<TimePoint> rate_told_;
  std::int64_t given_out_ = 0;
  std::optional<TimePoint> last_end_;
  std::optional<Seconds> usual_;  // length of what was given out lately
};

}  // namespace rubato::conduct
