// The least energy of an iteration inside a budget of time: one price of a second for all segments, raised
// until the budget is just used.
#pragma once

#include <vector>

#include "plan/layers/segments.h"
#include "plan/layers/strategy.h"

namespace rubato::plan {

struct PriceAnswer {
  std::vector<std::size_t> setting;
  Watts price;          // beyond the host's, where the search ended
  double joules = 0;    // of this plan, the host's in
  double bound = 0;     // no plan that was to be looked at has less
  bool closed = false;  // this one is the least
};

/// `fallback` keeps the budget; the answer is never worse. may_change[i]: a change may be asked for there.
[[nodiscard]] PriceAnswer search_by_price(const SegmentTable& table, const Switching& switching,
                                          const LayerGoal& goal, const std::vector<bool>& may_change,
                                          std::size_t fallback);

}  // namespace rubato::plan
