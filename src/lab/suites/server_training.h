// A training of server-30.csv as it would be run on one board.
#pragma once

#include "device/sim/profile.h"
#include "lab/suites/network.h"

namespace rubato::lab {

/// With as many times the batch as the board has more than 16 GB.
[[nodiscard]] Training on_server(Training training, const device::sim::Profile& board);

}  // namespace rubato::lab
