// One iteration as most of its repetitions have it: launches lost in one are found in the others, launches
// that only one has are left out.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "progress/kernels/token_table.h"

namespace rubato::progress::kernels {

struct Consensus {
  std::vector<Token> pattern;
  std::size_t repeats = 0;  // whole repetitions it was made of
};

/// `tokens` begins with the iteration whose first `length` launches are the first guess.
[[nodiscard]] Consensus consensus(std::span<const Token> tokens, std::size_t length);

}  // namespace rubato::progress::kernels
