// GPOEO's rule for "the job changed", as described: the largest and the smallest power of one iteration since
// the search ended are more than 18 % of their mean apart. It never forgets.
#pragma once

#include <algorithm>
#include <optional>

#include "base/units.h"

namespace rubato::shift_rate {

class GpoeoRule {
 public:
  [[nodiscard]] bool add(Watts power) {
    const double p = power.value();
    low_ = low_ ? std::min(*low_, p) : p;
    high_ = high_ ? std::max(*high_, p) : p;
    if ((*high_ - *low_) <= kSpread * (*high_ + *low_) / 2) return false;
    low_.reset();
    high_.reset();
    return true;
  }

 private:
  static constexpr double kSpread = 0.18;
  std::optional<double> low_;
  std::optional<double> high_;
};

}  // namespace rubato::shift_rate
