// NVIDIA GPUs through the driver's own library, opened at run time: building and starting need no driver.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/fs_root.h"
#include "device/gpu.h"

namespace rubato::device::nvml {

struct Options {
  std::string library = "libnvidia-ml.so.1";
  FsRoot root{};  // where /proc is looked at for rights
};

/// For the registry. NVML takes no argument: anything but empty is invalid_argument.
[[nodiscard]] Result<std::unique_ptr<Backend>> open(std::string_view argument);

/// unavailable: no library, no driver, no GPU.
[[nodiscard]] Result<std::unique_ptr<Backend>> open_with(const Options& options);

}  // namespace rubato::device::nvml
