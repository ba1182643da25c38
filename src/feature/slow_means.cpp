#include "feature/slow_means.h"

namespace rubato::feature {
namespace {

/// A utilisation is a mean over up to this long before it is read (NVML API reference,
/// nvmlDeviceGetUtilizationRates: 1/6 to 1 s, by the product).
constexpr Seconds kReachBack{1.0};

}  // namespace

void SlowMeans::Mean::add(std::optional<double> value) {
  if (!value) return;
  sum += *value;
  ++count;
}

std::optional<double> SlowMeans::Mean::value() const {
  if (count == 0) return std::nullopt;
  return sum / count;
}

void SlowMeans::begin(TimePoint at) {
  begin_ = at;
  sm_ = memory_ = clock_ = {};
}

void SlowMeans::see(const SlowReading& reading) {
  if (reading.at < begin_) return;
  if (reading.sm_clock && highest_ && *highest_ > Megahertz(0)) clock_.add(*reading.sm_clock / *highest_);
  if (reading.at < begin_ + kReachBack) return;
  sm_.add(reading.sm_utilisation);
  memory_.add(reading.memory_utilisation);
}

void SlowMeans::fill(FeatureVector& features) const {
  const auto put = [&](Feature feature, const Mean& mean) {
    if (const auto value = mean.value()) features[feature] = *value;
  };
  put(Feature::sm_utilisation, sm_);
  put(Feature::memory_utilisation, memory_);
  put(Feature::sm_clock_fraction, clock_);
}

std::optional<Megahertz> highest_sm_clock(device::Gpu& gpu) {
  const auto clocks = gpu.supported_clocks();
  if (!clocks || clocks->sm.empty()) return std::nullopt;
  return clocks->sm.back();
}

std::vector<Feature> slow_features(const Capabilities& can, bool highest_clock_known) {
  std::vector<Feature> out;
  if (can.read_utilisation.available) out = {Feature::sm_utilisation, Feature::memory_utilisation};
  if (can.read_clocks.available && highest_clock_known) out.push_back(Feature::sm_clock_fraction);
  return out;
}

}  // namespace rubato::feature
