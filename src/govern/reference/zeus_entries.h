// How the registry makes Zeus's optimizer, one name for each of its selectors.
#pragma once

#include <memory>

#include "govern/registry.h"

namespace rubato::govern {

[[nodiscard]] Result<std::unique_ptr<Strategy>> make_zeus_slowdown(const StrategyRequest& request,
                                                                   Variant variant);
[[nodiscard]] Result<std::unique_ptr<Strategy>> make_zeus_energy(const StrategyRequest& request,
                                                                 Variant variant);
[[nodiscard]] Result<std::unique_ptr<Strategy>> make_zeus_time(const StrategyRequest& request,
                                                               Variant variant);
[[nodiscard]] Result<std::unique_ptr<Strategy>> make_zeus_cost(const StrategyRequest& request,
                                                               Variant variant);

}  // namespace rubato::govern
