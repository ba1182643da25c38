// What a model of GPU can do per clock, as far as its data sheet tells: absent figures are not known.
#pragma once

#include <optional>

#include "base/units.h"

namespace rubato {

struct GpuFigures {
  unsigned compute_major = 0;  // compute capability
  unsigned compute_minor = 0;
  std::optional<unsigned> sm_count;
  std::optional<unsigned> memory_bus_bits;
  Megahertz highest_sm;
  Megahertz highest_memory;  // as NVML counts it: two transfers a clock on each pin
};

}  // namespace rubato
