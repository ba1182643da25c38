#include "govern/board_warmth.h"

namespace rubato::govern {
namespace {

constexpr Seconds kSpan{15};
constexpr Celsius kSame{1.0};

}  // namespace

bool BoardWarmth::steady(const Observation& o) {
  if (!o.state || !o.state->temperature) return true;  // nothing to go by
  if (seen_.empty() || seen_.back().first < o.state->at)
    seen_.emplace_back(o.state->at, *o.state->temperature);
  while (seen_.size() > 1 && seen_[1].first + kSpan <= o.now) seen_.pop_front();
  return o.now - seen_.front().first >= kSpan && abs(seen_.back().second - seen_.front().second) <= kSame;
}

}  // namespace rubato::govern
