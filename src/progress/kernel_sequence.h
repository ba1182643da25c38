// The iteration in the sequence of kernels the GPU ran: exact, in launches. Records come in cycles with
// nothing known between them; iterations are stated inside cycles only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "core/iteration.h"
#include "core/iteration_estimate.h"
#include "core/kernel_record.h"

namespace rubato::progress {

class KernelSequence {
 public:
  KernelSequence();
  ~KernelSequence();
  KernelSequence(KernelSequence&&) noexcept;
  KernelSequence& operator=(KernelSequence&&) noexcept;

  /// Records of one GPU, by begin; of several processes and streams in any mixture. A CUDA graph's launch is
  /// one token. `lost_before` breaks the sequence where it is not 0.
  void add(const KernelRecord& record);
  /// Between `end` and the process's next record nothing is known of it. Every process ends its own cycles;
  /// those of one that ran nothing here are ignored.
  void cycle_ended(TimePoint end, std::int32_t pid);

  [[nodiscard]] std::optional<IterationEstimate> estimate() const;
  /// Iterations that were seen whole since the last call: from the begin of their first kernel to the begin
  /// of the next one's. Held back until the pattern's confidence reaches 0.6 (0.9 for those shorter than 2
  /// ms, which layers of a network look like). The index also counts those that were not seen whole.
  [[nodiscard]] std::vector<Iteration> take_iterations();
  /// Kernels a second over the latest cycle, for jobs without a period.
  [[nodiscard]] std::optional<ProgressRate> rate() const;
  /// Records that could not be used: backward in time, of a second device.
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rubato::progress
