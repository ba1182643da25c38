// Where the time of a setting goes: both faces of a GPU, and the files of its journal, with the time inside
// every call counted.
#pragma once

#include <string>

#include "core/sample.h"
#include "guard/files.h"
#include "guard/opened_gpu.h"

namespace rubato::guard {

/// The same GPUs, opening them included. `cost` is added to by whichever thread calls one, and must outlive
/// it.
[[nodiscard]] GpuFactory timed(GpuFactory open, CallCost& cost);
/// The same question to the driver. `cost` as above.
[[nodiscard]] std::function<std::string()> timed(std::function<std::string()> ask, CallCost& cost);

/// The same operations. `cost` as above.
[[nodiscard]] std::shared_ptr<FileOps> timed(std::shared_ptr<FileOps> files, CallCost& cost);

}  // namespace rubato::guard
