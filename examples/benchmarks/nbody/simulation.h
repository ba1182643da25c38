// A cluster of stars and its motion: where it starts, one step of it, and the energy that a step should keep.
#pragma once

#include <cstdint>

#include "gravity.h"

namespace nbody {

/// A Plummer sphere near its equilibrium, the same for the same seed on every machine.
Bodies plummer_sphere(std::size_t count, std::uint64_t seed);

/// One step of the leapfrog (kick, drift, kick). `pull` is that at the bodies' positions, before and after.
void leapfrog(Bodies& bodies, std::vector<Pull>& pull, Gravity& gravity, float softening, float dt);

/// Kinetic and potential energy.
double energy(const Bodies& bodies, const std::vector<Pull>& pull, float softening);

}  // namespace nbody
