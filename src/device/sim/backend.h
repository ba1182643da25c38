// The `sim` backend: simulated GPUs behind the same interfaces as real ones.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "device/gpu.h"

namespace rubato::device::sim {

/// `argument`: profiles, comma separated ("v100,v100"), or empty: the world named by RUBATO_SIM_WORLD as it
/// is.
[[nodiscard]] Result<std::unique_ptr<Backend>> open(std::string_view argument);

}  // namespace rubato::device::sim
