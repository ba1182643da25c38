// A provider's counters with the clock at which they were counted: a share of the peak means little without
// it.
#pragma once

#include <memory>

#include "feature/provider.h"

namespace rubato::feature {

/// The same provider; its windows hold SlowMeans besides, of the readings that see() was shown, and these
/// alone where the counters had nothing to tell: source() is then "utilisation".
[[nodiscard]] std::unique_ptr<Provider> accompany(std::unique_ptr<Provider> counters, device::Gpu& gpu);

}  // namespace rubato::feature
