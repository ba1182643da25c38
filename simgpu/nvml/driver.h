// Which driver the stand-in plays: what is in force in newer ones only is not told by older ones.
#pragma once

#include <compare>
#include <string>

#include "device/sim/world.h"

namespace rubato::simgpu {

struct Driver {
  int branch = 0;   // 535 of "535.183.01"
  int release = 0;  // 183
  auto operator<=>(const Driver&) const = default;
};

/// $RUBATO_SIM_DRIVER, or the one of the world's profile.
[[nodiscard]] std::string driver_text(const device::sim::SimWorld& world);
[[nodiscard]] Driver driver_of(const device::sim::SimWorld& world);
/// The newest CUDA this driver runs, as NVML counts: 12020 is 12.2.
[[nodiscard]] int cuda_of(const Driver& driver);

}  // namespace rubato::simgpu
