// The simulated GPU itself, run until clocks and temperature stand still: what the suites' shortcut is held
// against.
#pragma once

#include "base/units.h"
#include "core/setting.h"
#include "device/sim/world.h"

namespace rubato::lab {

struct Settled {
  Seconds time;  // of an iteration
  Watts power;
};

/// A world of one such board whose sensor differs as little from the profile's as twenty seeds give.
Settled settle(const device::sim::Profile& board, std::span<const device::sim::Segment> iteration,
               const Setting& setting);

}  // namespace rubato::lab
