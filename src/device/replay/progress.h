// How the work of a replayed GPU goes on, and when it will be done if nothing changes.
#pragma once

#include <optional>

#include "base/clock.h"
#include "device/replay/board.h"
#include "device/replay/state.h"

namespace rubato::device::replay {

/// To `now`; a `now` in the state's past changes nothing. An iteration takes the time of its setting and
/// draws that setting's power all the while; a change in its middle counts for the rest of it.
void advance(GpuState& state, const Board& board, TimePoint now);

/// When iteration `index` completed or will; nothing where it was not submitted or is forgotten.
[[nodiscard]] std::optional<TimePoint> completion_of(const GpuState& state, const Board& board,
                                                     std::uint64_t index);

}  // namespace rubato::device::replay
