// All lengths the iteration may have in a stretch of the trace: what stands out where the readings are
// compared with themselves later, and in their spectrum, and multiples and parts of the likest. Many are
// wrong: ranking.h tells which to believe.
#pragma once

#include <vector>

#include "progress/period/judged.h"

namespace rubato::progress {

/// Judged, in order of length, no two within 1.2 % of each other. They point into `bands`. `recalled_s`:
/// lengths that earlier looks believed in.
[[nodiscard]] std::vector<Judged> candidates_of(const Samples& samples, const std::vector<Band>& bands,
                                                const Span& span, const std::vector<double>& recalled_s = {});

}  // namespace rubato::progress
