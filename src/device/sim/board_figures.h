// A profile of the simulated GPU as figures of the board, for predictions from first principles.
#pragma once

#include "core/board_figures.h"
#include "device/sim/profile.h"

namespace rubato::device::sim {

[[nodiscard]] BoardFigures board_figures(const Profile& profile, const GpuFigures& peaks);

}  // namespace rubato::device::sim
