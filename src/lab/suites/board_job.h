// Trainings on a simulated board as jobs of the lab: the true cost at every setting of the grid.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/setting.h"
#include "device/sim/profile.h"
#include "lab/job.h"
#include "lab/suites/derive.h"

namespace rubato::lab {

/// Every step of the knobs from the lowest to where the board is found: limits of 1 W up to the default; SM
/// clocks up to the highest it goes to by itself, where nothing is locked; every memory clock.
/// invalid_argument: the board does not take one of the knobs; there is none, or one twice.
[[nodiscard]] Result<plan::KnobSpace> space_of(const device::sim::Profile& board,
                                               std::span<const Knob> knobs);

/// A job without programs, in space.
[[nodiscard]] Job empty_job(const plan::KnobSpace& space);

/// What an iteration of `derived` costs on the whole grid of `job`; `steps` of them make an iteration.
[[nodiscard]] Truth truth_of(const device::sim::Profile& board, const Job& job, const Derived& derived,
                             unsigned steps);

}  // namespace rubato::lab
