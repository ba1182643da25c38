// What is counted: quantities, the metrics that tell each on one chip or another, and how samples of them
// become features. All of it must fit one pass of the counters, as nothing is ever replayed.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/feature_schema.h"

namespace rubato::feature::cupti {

/// The features that one metric tells, and two counts that features are made of.
enum class Quantity : std::size_t {
  sm_active,
  tensor_active,
  dram_active,
  fp32_active,
  sm_occupancy,
  instructions,  // per second
  sm_cycles,     // active, over all SMs, per second
  fp16_active,
  integer_active,
  fp64_active,
  l2_active,
  l2_sectors,  // looked up, per second
  l2_hits,     // of these, a fraction
  pcie_rx,     // bytes per second
  pcie_tx,
  nvlink_rx,
  nvlink_tx,
  special_active,
  interpolate_active,
  count_,
};
inline constexpr std::size_t kQuantityCount = static_cast<std::size_t>(Quantity::count_);

/// One way to count a quantity: the mean of one or two metrics.
struct Way {
  const char* metric = nullptr;
  const char* second = nullptr;
};
struct Wanted {
  Quantity quantity{};
  double scale = 1;           // from the metric's unit: percentages become fractions
  std::span<const Way> ways;  // the better first
};

/// In the order in which they get their place in the one pass.
[[nodiscard]] std::span<const Wanted> wanted();

/// What one chip counts in one pass.
struct Counted {
  Quantity quantity{};
  double scale = 1;
  Way way;
};

/// The metrics of `counted` in its order, for CUPTI.
[[nodiscard]] std::vector<const char*> metrics_of(std::span<const Counted> counted);
/// The features that come of it.
[[nodiscard]] std::vector<Feature> features_of(std::span<const Counted> counted);

/// Means over samples, each weighed by the time it covers.
class Means {
 public:
  explicit Means(std::vector<Counted> counted) : counted_(std::move(counted)) {}

  /// One value for each of metrics_of(); one that is not finite tells nothing (a fraction of no lookups).
  void add(std::span<const double> values, double seconds);
  [[nodiscard]] double seconds() const { return seconds_; }
  void fill(FeatureVector& out) const;

 private:
  struct Mean {
    double sum = 0;
    double weight = 0;
  };
  [[nodiscard]] std::optional<double> mean(Quantity q) const;

  std::vector<Counted> counted_;
  std::array<Mean, kQuantityCount> means_{};
  double l2_misses_ = 0;  // where lookups, their hits and instructions were all counted
  double with_instructions_ = 0;
  double seconds_ = 0;
};

}  // namespace rubato::feature::cupti
