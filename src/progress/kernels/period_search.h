// The launches of one iteration, found in a stretch of one stream that holds a few of them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "progress/kernels/token_table.h"

namespace rubato::progress::kernels {

/// One launch of the stream that is searched.
struct Launch {
  TimePoint begin;
  TimePoint end;
  Token token = TokenTable::kOther;
};

/// What two launches must share to count as the same.
enum class Sameness {
  exact,    // name, grid and block
  name,     // the name: grids follow the shapes of the data
  anchors,  // exact, and only launches that come once an iteration are looked at
};

struct FoundPattern {
  Sameness sameness = Sameness::exact;
  std::vector<Token> pattern;  // one iteration, as symbols
  std::vector<Token> anchors;  // sorted; where sameness is anchors
  double match = 0;            // fraction of launches that come again one iteration later
  double unit_chance = 1;      // that it is the iteration and not a micro-batch, or the reverse
  std::size_t micro_batches = 1;
  bool in_all = true;  // false: only in the later part of what was searched
};

/// The launches have no break in them. Absent: nothing repeats.
[[nodiscard]] std::optional<FoundPattern> find_pattern(std::span<const Launch> launches,
                                                       const TokenTable& table);

/// What the follower of a pattern sees of a token; absent: it does not look at it.
[[nodiscard]] std::optional<Token> symbol_of(const FoundPattern& found, const TokenTable& table, Token token);

}  // namespace rubato::progress::kernels
