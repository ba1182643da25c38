// Writes the kernels of a simulated training as the library that CUDA injects does: a kernel ring beside the
// marks, in duty cycles as RUBATO_KERNELS says. Cycles hold whole iterations.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "simgpu/trainer/kernel_sequence.h"
#include "simgpu/trainer/mark_writer.h"
#include "simgpu/trainer/ring_map.h"

namespace rubato::sim_trainer {

struct KernelDuty {
  Seconds on;
  Seconds period;
};

/// "2s/60s" or "50ms/1s"; nothing for "off", "0" and the empty word.
[[nodiscard]] Result<std::optional<KernelDuty>> parse_kernel_duty(std::string_view text);

class KernelWriter {
 public:
  /// Nothing where RUBATO_MARKS or RUBATO_KERNELS is not set, or off. `gpu_uuid` as NVML prints it.
  [[nodiscard]] static Result<std::optional<KernelWriter>> from_environment(std::string_view gpu_uuid);
  [[nodiscard]] static Result<KernelWriter> create(const std::filesystem::path& folder,
                                                   const KernelDuty& duty, std::string_view gpu_uuid);

  /// An iteration the GPU completed; one after the other. Names go to `marks`.
  void write(const GpuIteration& iteration, MarkWriter& marks);
  /// The training is over.
  void finish();

 private:
  KernelWriter(RingMap ring, const KernelDuty& duty) : ring_(std::move(ring)), duty_(duty) {}
  void edge(std::uint32_t kind, TimePoint begin, TimePoint end);

  RingMap ring_;
  KernelDuty duty_;
  std::array<std::uint8_t, 16> uuid_{};
  std::optional<TimePoint> cycle_begin_;  // of the one that is on
  TimePoint cycle_end_;                   // what was recorded so far
  std::optional<TimePoint> next_cycle_;   // none before; absent: at once
  std::set<std::uint64_t> named_;
};

}  // namespace rubato::sim_trainer
