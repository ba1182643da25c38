// The last resort: how busy the driver says the GPU was, and at which clock. It reads nothing itself.
#pragma once

#include "feature/provider.h"

namespace rubato::feature::utilisation {

[[nodiscard]] ProviderKind kind();

}  // namespace rubato::feature::utilisation
