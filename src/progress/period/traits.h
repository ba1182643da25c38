// What speaks for and against a candidate: how alike the trace is to itself one period later and at
// other lags, and how that compares with its multiples, its parts and the rest. The ranking is learnt on
// these numbers, so their order and meaning belong to candidate_trees.inc: change one, train anew
// (tools/train-period-ranking).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "progress/period/judged.h"

namespace rubato::progress {

inline constexpr std::size_t kTraits = 70;
using Traits = std::array<float, kTraits>;

/// By candidate; all of one stretch of a trace, in order of length, as candidates_of() gives them.
[[nodiscard]] std::vector<Traits> traits_of(const std::vector<Judged>& candidates, const Span& span);

/// Of two periods: twice, three times and so on, as far as candidates are placed.
[[nodiscard]] bool is_multiple(double ratio);

[[nodiscard]] std::span<const std::string_view, kTraits> trait_names();

}  // namespace rubato::progress
