// From --gpu to open GPUs, with the words a user needs when that fails.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/gpu.h"
#include "device/registry.h"

namespace rubato::cli {

struct OpenGpus {
  device::Selection selection;
  std::vector<std::unique_ptr<device::Gpu>> gpus;  // in the order of selection.chosen
};

/// `list` as typed after --gpu. A GPU that cannot be opened is an error naming it.
[[nodiscard]] Result<OpenGpus> open_gpus(std::string_view list);

/// True where `list` names simulated GPUs only; textual, no driver is touched.
[[nodiscard]] bool names_simulated(std::string_view list);

}  // namespace rubato::cli
