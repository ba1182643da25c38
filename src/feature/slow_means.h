// Means of what the slow tick reads anyway: utilisation and clock. Alone they are the last resort; beside
// counters they say at which clock these were counted.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/feature_schema.h"
#include "core/sample.h"
#include "device/gpu.h"

namespace rubato::feature {

/// What they go by where they stand alone.
inline constexpr std::string_view kSlowMeansName = "utilisation";

class SlowMeans {
 public:
  /// `highest`: the clock of which a fraction is told; without it none is.
  explicit SlowMeans(std::optional<Megahertz> highest) : highest_(highest) {}

  void begin(TimePoint at);
  /// Readings before begin(), and those whose utilisation reaches back before it, are left out.
  void see(const SlowReading& reading);
  /// Sets what was seen; leaves the rest as it is.
  void fill(FeatureVector& features) const;

 private:
  struct Mean {
    double sum = 0;
    unsigned count = 0;
    void add(std::optional<double> value);
    [[nodiscard]] std::optional<double> value() const;
  };
  std::optional<Megahertz> highest_;
  TimePoint begin_;
  Mean sm_;
  Mean memory_;
  Mean clock_;
};

/// The highest SM clock the driver lists.
[[nodiscard]] std::optional<Megahertz> highest_sm_clock(device::Gpu& gpu);
/// Those of the three that readings of this GPU hold.
[[nodiscard]] std::vector<Feature> slow_features(const Capabilities& can, bool highest_clock_known);

}  // namespace rubato::feature
