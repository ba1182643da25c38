// Both faces of one GPU, and how the guard gets them. Which backend they come from is the caller's business.
#pragma once

#include <functional>
#include <memory>

#include "device/gpu.h"

namespace rubato::guard {

struct OpenedGpu {
  std::unique_ptr<device::Gpu> gpu;
  std::unique_ptr<device::GpuControl> control;
};

/// not_found where the GPU is not present.
using GpuFactory = std::function<Result<OpenedGpu>(const GpuId&)>;

}  // namespace rubato::guard
