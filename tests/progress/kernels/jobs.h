// Jobs as the GPU would see them, written for the tests alone: kernels in the order in which a training of
// some kind launches them, with what disturbs it. Knows nothing of how the detector works.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/kernel_record.h"

namespace rubato::progress::kernels {

enum class Family {
  plain,
  layers,            // runs of equal layers forward and backward
  micro_batches,     // k of them, then the optimizer
  tuning,            // kernels tried at the start
  grids_vary,        // shapes change the grids, not the names
  kernels_vary,      // shapes change kernels and their number
  streams,           // collectives and copies race with the compute stream
  unannounced_loss,  // 0.2 to 2 % of the records
  announced_loss,    // holes that are told
  now_and_then,      // a log line every 10, a longer one every 50
  evaluations,       // forward only, for a while
  graphs,            // parts are CUDA graphs
  cycles,            // 2 s of each 60 s are recorded, from the middle of an iteration on
  two_processes,
  random_kernels,     // no period
  one_kernel,         // no period
  changing_programs,  // no period: tasks of any length in any order
};

inline constexpr std::size_t kFamilies = 17;

[[nodiscard]] std::string_view name_of(Family family);

struct Job {
  std::vector<KernelRecord> records;
  std::vector<TimePoint> cycle_ends;      // ascending
  std::optional<std::uint64_t> launches;  // the truth; absent: no period
  bool exact = true;                      // false: the number itself varies, `launches` is its median
  std::vector<TimePoint> begins;          // of the iterations, recorded or not
};

[[nodiscard]] Job make_job(Family family, std::uint64_t seed);

}  // namespace rubato::progress::kernels
