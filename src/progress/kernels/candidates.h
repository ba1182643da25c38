// Periods that are worth trying: distances at which the same launches, and the same few launches in a row,
// come again.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "progress/kernels/token_table.h"

namespace rubato::progress::kernels {

/// Ascending, in launches; none longer than a third of the sequence.
[[nodiscard]] std::vector<std::size_t> candidate_periods(std::span<const Token> tokens);

}  // namespace rubato::progress::kernels
