// A candidate's readings on a grid of its own, on which its cycles are compared and followed.
#pragma once

#include "progress/period/judged.h"

namespace rubato::progress {

/// The band's columns, weighed, slow change taken off, on a grid of which the period is a whole number of
/// steps, at most 64; detail beyond a twelfth of the period is smoothed away.
[[nodiscard]] Series own_level(const Samples& samples, const Judged& judged, const Span& span);

}  // namespace rubato::progress
