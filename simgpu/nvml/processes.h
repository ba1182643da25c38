// The compute processes of a GPU, for the public calls and for nvidia-smi's own.
#pragma once

#include <string>
#include <vector>

#include "simgpu/nvml/entry.h"

namespace rubato::simgpu {

/// The program's path; empty where the process is gone or another user's.
[[nodiscard]] std::string program_of(std::int64_t pid);

}  // namespace rubato::simgpu
