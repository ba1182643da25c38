// How the registry makes the published searches: same goal, with the budget spent, or as published.
#pragma once

#include <memory>

#include "govern/registry.h"

namespace rubato::govern {

using MadeStrategy = Result<std::unique_ptr<Strategy>>;

[[nodiscard]] MadeStrategy make_gpoeo(const StrategyRequest& request, Variant variant);
[[nodiscard]] MadeStrategy make_odpp(const StrategyRequest& request, Variant variant);
[[nodiscard]] MadeStrategy make_mf_gpoeo(const StrategyRequest& request, Variant variant);
[[nodiscard]] MadeStrategy make_depo(const StrategyRequest& request, Variant variant);
[[nodiscard]] MadeStrategy make_bisection(const StrategyRequest& request, Variant variant);
[[nodiscard]] MadeStrategy make_static_sweep(const StrategyRequest& request, Variant variant);

}  // namespace rubato::govern
