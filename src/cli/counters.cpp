#include "cli/counters.h"

#include "base/text.h"

namespace rubato::cli {

std::vector<CounterSource> counter_sources(device::Gpu& gpu) {
  const bool hardware = gpu.kind() == Kind::measured;
  std::vector<CounterSource> out;
  for (const auto& kind : feature::provider_kinds()) {
    const bool simulated = kind.facts.name == "simulated";
    if (hardware && simulated) continue;
    const auto provider = kind.open(gpu);
    if (!hardware && !simulated && !provider->availability().available) continue;
    out.push_back(
        {kind.facts, provider->availability(), {provider->features().begin(), provider->features().end()}});
  }
  return out;
}

std::vector<Result<std::vector<Feature>>> try_counters(std::span<const std::unique_ptr<device::Gpu>> gpus,
                                                       const Clock& clock) {
  // Beyond the interval from one refresh of the counters to the next, 0.1 s.
  constexpr Seconds kTrial{0.25};
  bool any = false;
  for (const auto& gpu : gpus)
    if (gpu->capabilities().read_counters.available) any = gpu->read_counters().has_value() || any;
  if (any) sleep_until(clock, clock.now() + kTrial);
  std::vector<Result<std::vector<Feature>>> out;
  for (const auto& gpu : gpus)
    out.push_back(gpu->read_counters().map([](const FeatureVector& told) {
      std::vector<Feature> features;
      for (std::size_t i = 0; i < kFeatureCount; ++i)
        if (told.values.at(i)) features.push_back(static_cast<Feature>(i));
      return features;
    }));
  return out;
}

std::string names_of(const std::vector<Feature>& features) {
  std::string out;
  for (const Feature f : features)
    out += cat(out.empty() ? "" : ", ", kFeatureNames.at(static_cast<std::size_t>(f)));
  return out;
}

}  // namespace rubato::cli
