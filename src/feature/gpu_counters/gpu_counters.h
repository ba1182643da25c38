// The counters a device backend reads by itself: GPM on hardware, the simulated GPU's own in simulation. One
// implementation, two kinds, so that a record names a simulated count by what it is.
#pragma once

#include "feature/provider.h"

namespace rubato::feature::gpu_counters {

/// NVML's GPM: where the GPU is hardware.
[[nodiscard]] ProviderKind gpm_kind();
/// Where the GPU is simulated, through whichever backend.
[[nodiscard]] ProviderKind simulated_kind();

}  // namespace rubato::feature::gpu_counters
