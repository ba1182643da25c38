// One kernel the GPU ran, as device records (CUPTI, the simulated trainer) tell it.
#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"

namespace rubato {

struct KernelRecord {
  TimePoint begin;
  TimePoint end;
  std::uint64_t name_hash = 0;
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
  std::uint32_t stream = 0;
  std::uint32_t graph = 0;  // 0: launched alone; else the CUDA graph it ran in, which counts as one token
  std::uint64_t layer = 0;  // id of the innermost layer or range it was launched in; 0: none known
  std::int32_t pid = 0;
  std::array<std::uint8_t, 16> device_uuid{};  // all zero: unknown
  std::uint64_t lost_before = 0;  // records dropped before it was written, since the one written before
};

}  // namespace rubato
