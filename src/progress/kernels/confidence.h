// How sure a period found in the kernels is, from what was seen of it.
#pragma once

#include <cstdint>

#include "base/units.h"
#include "progress/kernels/period_search.h"

namespace rubato::progress::kernels {

/// What speaks for and against a pattern.
struct Evidence {
  std::uint64_t iterations = 0;  // seen whole
  Seconds period{0};
  std::size_t launches = 0;
  Sameness sameness = Sameness::exact;
  double match = 1;            // as in FoundPattern
  double unit_chance = 1;      // as in FoundPattern
  bool micro_batches = false;  // the pattern is made of several smaller ones
  unsigned silent_cycles = 0;  // the latest cycles, without a whole iteration in any
  bool recognised = true;      // what runs now still fits the pattern
};

/// Chance that the period is right: the product of the chances that it is not a part of something longer that
/// has not ended yet, that the repetitions are no coincidence, and of how well they agree.
[[nodiscard]] double confidence_in(const Evidence& evidence);

/// Chance that there is no period, having seen so many launches of one stream in so long a stretch.
[[nodiscard]] double confidence_in_none(std::size_t launches, Seconds stretch, bool all_equal);

}  // namespace rubato::progress::kernels
