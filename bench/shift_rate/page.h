// The page docs/evidence/shifts.md.
#pragma once

#include <cstdint>

namespace rubato::shift_rate {

struct Plan {
  std::uint64_t seed = 100000;
  unsigned hours = 250;  // of each family
  unsigned runs = 200;   // of each family and size
  unsigned jobs = 1;     // threads; the page is the same but for the CPU times
};

void print_page(const Plan& plan);

}  // namespace rubato::shift_rate
