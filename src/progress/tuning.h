// Autotuning: cuDNN, XLA and Triton try kernels by time at the start of a job and at new shapes. While they
// do, iterations are not those to come, and no decision may rest on them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "core/iteration.h"
#include "core/kernel_record.h"

namespace rubato::progress {

struct TuningState {
  bool tuning = true;              // until the contrary has been seen
  std::optional<TimePoint> since;  // begin of the present state
  std::string why;                 // one sentence
};

/// Iterations alone suffice (the first ones are longer, then steady); kernels make it sharper (names that
/// come a few times and never again).
class TuningWatch {
 public:
  TuningWatch();
  ~TuningWatch();
  TuningWatch(TuningWatch&&) noexcept;
  TuningWatch& operator=(TuningWatch&&) noexcept;

  void iteration(const Iteration& iteration);
  void kernel(const KernelRecord& record);
  void cycle_ended(TimePoint end);
  /// Time passes although nothing is told: what shows no tuning for long enough is taken as settled.
  void pass(TimePoint now);
  /// The setting was changed: iterations take another time from here on, which is no tuning.
  void setting_changed(TimePoint at);
  [[nodiscard]] TuningState state() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rubato::progress
