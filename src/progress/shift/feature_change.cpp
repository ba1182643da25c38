#include "progress/shift/feature_change.h"

#include <algorithm>
#include <cmath>

#include "progress/shift/signals.h"

namespace rubato::progress {
namespace {

double change(const SignalKind& kind, double before, double after) {
  if (kind.fraction) return after - before;
  return std::expm1(kind.to_scale(after) - kind.to_scale(before));
}

bool is_value(const std::optional<double>& value) {
  return value && std::isfinite(*value) && *value >= 0;
}

}  // namespace

std::vector<FeatureChange> feature_changes(const FeatureVector& before, const FeatureVector& after,
                                           double smallest) {
  std::vector<FeatureChange> changes;
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    const auto feature = static_cast<Feature>(i);
    if (!is_value(before[feature]) || !is_value(after[feature])) continue;
    const double by = change(signal_kind(feature), *before[feature], *after[feature]);
    // Just as large, but for the last bit.
    if (std::abs(by) < smallest * (1 - 1e-9)) continue;
    changes.push_back({feature, *before[feature], *after[feature], by});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& a, const auto& b) { return std::abs(a.by) > std::abs(b.by); });
  return changes;
}

std::vector<FeatureChange> lasting_changes(const FeatureVector& before, std::span<const FeatureVector> after,
                                           double smallest) {
  if (after.empty()) return {};
  std::vector<FeatureChange> lasting = feature_changes(before, after.back(), smallest);
  for (const FeatureVector& window : after.first(after.size() - 1)) {
    const auto here = feature_changes(before, window, smallest);
    std::erase_if(lasting, [&](const FeatureChange& c) {
      return std::none_of(here.begin(), here.end(), [&](const FeatureChange& h) {
        return h.feature == c.feature && (h.by > 0) == (c.by > 0);
      });
    });
  }
  return lasting;
}

}  // namespace rubato::progress
