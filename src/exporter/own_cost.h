// What the exporter itself costs, as the operating system counts it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/fs_root.h"
#include "base/units.h"

namespace rubato::exporter {

/// User and system time of all threads since the process began; real seconds, whatever clock the GPUs are on.
[[nodiscard]] Seconds own_cpu_time();
/// Bytes; absent where /proc does not tell.
[[nodiscard]] std::optional<std::uint64_t> own_memory(const FsRoot& root = {});

}  // namespace rubato::exporter
