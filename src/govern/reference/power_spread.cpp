#include "govern/reference/power_spread.h"

#include <algorithm>

namespace rubato::govern {

void PowerSpread::restart() {
  seen_.clear();
  quiet_ = 0;
}

double PowerSpread::look(Watts power) {
  seen_.push_back(power.value());
  const auto ends = std::minmax_element(seen_.begin(), seen_.end());
  const double low = *ends.first;
  const double high = *ends.second;
  if (options_.never_forgets) {
    seen_ = {low, high};
  } else if (seen_.size() > options_.remembered) {
    seen_.pop_front();
  }
  const double spread = high + low > 0 ? 2 * (high - low) / (high + low) : 0;
  quiet_ = spread > options_.limit ? 0 : quiet_ + 1;
  return spread;
}

double PowerSpread::sleep() const {
  if (quiet_ < 3) return 0;
  return std::min(32.0, static_cast<double>(1 << std::min(quiet_ - 1, 5)));
}

}  // namespace rubato::govern
