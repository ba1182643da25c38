// One replayed GPU as the two faces every backend offers.
#pragma once

#include <memory>

#include "device/gpu.h"
#include "device/replay/world.h"

namespace rubato::device::replay {

/// kind() tells the setting in force now: replayed exactly on a row, interpolated between rows. Whoever needs
/// one kind for a stretch of time takes the less direct of those seen in it.
[[nodiscard]] std::unique_ptr<Gpu> make_gpu(std::shared_ptr<ReplayWorld> world, unsigned index);
[[nodiscard]] std::unique_ptr<GpuControl> make_control(std::shared_ptr<ReplayWorld> world, unsigned index);

}  // namespace rubato::device::replay
