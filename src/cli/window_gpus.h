// Which GPUs `rubato windows` measures for the program that started it.
#pragma once

#include <string_view>

#include "base/result.h"
#include "cli/gpus.h"

namespace rubato::cli {

/// `list` as after --gpu. In a job of a run on simulated GPUs its numbers, and all GPUs where nothing is
/// named, are those of the run's world. `as_cuda`: numbers count what CUDA_VISIBLE_DEVICES shows this
/// process.
[[nodiscard]] Result<OpenGpus> open_window_gpus(std::string_view list, bool as_cuda);

}  // namespace rubato::cli
