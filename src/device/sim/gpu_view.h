// One simulated GPU as the two faces every backend offers.
#pragma once

#include <memory>

#include "device/gpu.h"
#include "device/sim/world.h"

namespace rubato::device::sim {

[[nodiscard]] std::unique_ptr<Gpu> make_gpu(std::shared_ptr<SimWorld> world, unsigned index);
[[nodiscard]] std::unique_ptr<GpuControl> make_control(std::shared_ptr<SimWorld> world, unsigned index);

}  // namespace rubato::device::sim
