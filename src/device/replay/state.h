// The state of a world of replayed GPUs as it lies in memory and in the world's file: plain data.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/replay/board.h"

namespace rubato::device::replay {

inline constexpr std::uint64_t kReplayMagic = 0x31594c5045524252ULL;  // "RBREPLY1"
inline constexpr std::uint32_t kReplayVersion = 1;
inline constexpr std::size_t kMostGpus = 16;
inline constexpr std::size_t kMostQueued = 8;  // iterations submitted and not yet complete

/// The table's rows follow the header as text, one GPU's behind the other's, so that a world needs no other
/// file.
struct SourceEntry {
  std::uint64_t text_size;
  double iteration_s;
  std::uint32_t has_iteration;
};

struct ReplayHeader {
  std::uint32_t gpu_count;
  std::uint32_t rights;
  std::uint32_t outlives_job;
  std::uint32_t from_next_iteration;
  std::int64_t origin_ns;
  double rate;
  char boot_id[40];
  SourceEntry sources[kMostGpus];
};

struct ContextState {
  std::uint64_t id;  // 0: none
  std::int64_t pid;
  std::uint64_t submitted;
  std::uint64_t completed;
  double done;  // fraction of the iteration that runs now
  double scale[kMostQueued];
  std::int64_t completed_ns[kMostQueued];

  [[nodiscard]] bool runs() const { return id != 0 && submitted > completed; }
};

struct GpuState {
  std::int64_t now_ns;
  Knobs asked;
  Knobs in_force;  // differs only where a change waits for the next iteration
  double energy_j;
  std::uint64_t writes;
  std::uint64_t last_context;
  ContextState context;
};

static_assert(std::is_trivially_copyable_v<GpuState> && std::is_trivially_copyable_v<ReplayHeader>);

}  // namespace rubato::device::replay
