// The page docs/evidence/power-limits.md.
#pragma once

#include <vector>

#include "power_limits/answers.h"

namespace rubato::limits {

void print_page(const std::vector<Board>& boards, Watts host);

}  // namespace rubato::limits
