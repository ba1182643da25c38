// Plans of tables too large to look at every pair of settings at every price: the settings of use are found
// first.
#pragma once

#include "plan/layers/price_search.h"

namespace rubato::plan {

/// As search_by_price(); the bound is over all settings.
[[nodiscard]] PriceAnswer search_among_used(const SegmentTable& table, const Switching& switching,
                                            const LayerGoal& goal, const std::vector<bool>& may_change,
                                            std::size_t fallback);

/// As search_by_price(), every pair at every price. `guess`: a price to begin with, 0 where nothing is known.
[[nodiscard]] PriceAnswer search_at_once(const SegmentTable& table, const Switching& switching,
                                         const LayerGoal& goal, const std::vector<bool>& may_change,
                                         std::size_t fallback, Watts guess);

/// Pairs of settings that one LapSearch::solve() may look at.
[[nodiscard]] double pairs_of(const SegmentTable& table, const Switching& switching,
                              const std::vector<bool>& may_change);
[[nodiscard]] bool is_free(const Switching& switching);

}  // namespace rubato::plan
