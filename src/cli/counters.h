// What could count the work of one GPU's units here, as `devices` and `doctor` tell it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "feature/provider.h"

namespace rubato::cli {

struct CounterSource {
  feature::ProviderFacts facts;
  Capability availability;
  std::vector<Feature> features;
};

/// Best first, each opened to see: the first that is available is what rubato takes. What no board like this
/// could have is left out: simulated counters of hardware, hardware's counters of a simulated GPU.
[[nodiscard]] std::vector<CounterSource> counter_sources(device::Gpu& gpu);

/// What a short read of each GPU's own counters tells, in the order of `gpus`: waits once for all of them.
[[nodiscard]] std::vector<Result<std::vector<Feature>>> try_counters(
    std::span<const std::unique_ptr<device::Gpu>> gpus, const Clock& clock);

/// "sm_active, dram_active".
[[nodiscard]] std::string names_of(const std::vector<Feature>& features);

}  // namespace rubato::cli
