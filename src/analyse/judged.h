// Which stretches of a run figures may be made of, and what they are compared with.
#pragma once

#include <algorithm>

#include "analyse/stretch.h"
#include "analyse/summary.h"

namespace rubato::analyse {

/// Whole iterations and energy are there, and nothing was still settling.
[[nodiscard]] inline bool judged(const Stretch& s) {
  return s.iterations > 0 && s.duration() > Seconds(0) && s.role != BlockRole::warmup && s.energy &&
         *s.energy > Joules(0);
}

[[nodiscard]] inline bool at_found_setting(const Stretch& s) {
  return s.setting.empty() &&
         (s.role == BlockRole::baseline || s.role == BlockRole::control || s.role == BlockRole::hold);
}

/// At what somebody else set while rubato had nothing in force.
[[nodiscard]] inline bool at_their_setting(const Stretch& s) {
  return !s.setting.empty() && (s.role == BlockRole::baseline || s.role == BlockRole::control);
}

/// `map` is monotone.
template <class Map>
[[nodiscard]] Estimate mapped(const Estimate& from, Map map) {
  Estimate to{.value = map(from.value), .interval = {}, .why_no_interval = from.why_no_interval};
  if (from.interval) {
    const double one = map(from.interval->low);
    const double other = map(from.interval->high);
    to.interval = Interval{std::min(one, other), std::max(one, other)};
  }
  return to;
}

}  // namespace rubato::analyse
