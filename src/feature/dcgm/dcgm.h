// Counters that DCGM collects for somebody else: read from an engine that runs already, never asked for.
// Arming its profiling fields can hang idle A10 and A40 boards (DCGM issue 144), so rubato leaves that to
// whoever knows the machine.
#pragma once

#include <memory>

#include "feature/dcgm/engine.h"
#include "feature/provider.h"

namespace rubato::feature::dcgm {

[[nodiscard]] ProviderKind kind();

/// As kind().open, with library and engine from where a test says.
[[nodiscard]] std::unique_ptr<Provider> open(device::Gpu& gpu, const Places& places);

}  // namespace rubato::feature::dcgm
