// Counters by CUPTI's PM sampling, from rubato's own process: of the whole GPU, one pass, nothing replayed,
// and nothing in the job. Needs CUDA 12.8 or newer and an administrator's rights.
#pragma once

#include <memory>

#include "feature/cupti/library.h"
#include "feature/provider.h"

namespace rubato::feature::cupti {

[[nodiscard]] ProviderKind kind();

/// As kind().open, with libraries and files from where a test says.
[[nodiscard]] std::unique_ptr<Provider> open(device::Gpu& gpu, const Places& places);

}  // namespace rubato::feature::cupti
