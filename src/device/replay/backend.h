// The `replay` backend: tables of measurements as GPUs behind the same interfaces as real ones.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "device/gpu.h"

namespace rubato::device::replay {

/// `argument`: FILE#WORKLOAD@SECONDS items, comma separated, or empty: the world named by
/// RUBATO_REPLAY_WORLD as it is.
[[nodiscard]] Result<std::unique_ptr<Backend>> open(std::string_view argument);

}  // namespace rubato::device::replay
