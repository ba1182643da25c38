// Power limits that are the same: drivers keep them in milliwatts and people write whole watts.
#pragma once

#include "base/units.h"

namespace rubato::conduct {

inline constexpr Watts kSameLimit{0.5};

[[nodiscard]] inline bool same_limit(Watts a, Watts b) {
  return abs(a - b) <= kSameLimit;
}

}  // namespace rubato::conduct
