// NVML return codes as rubato errors: the constant's name stays in the text, because that is what people
// search for.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/gpu_id.h"
#include "device/nvml/abi.h"

namespace rubato::device::nvml {

/// "NVML_ERROR_NO_PERMISSION"; "NVML error 77" for a code this build does not know.
[[nodiscard]] std::string name_of_return(abi::Return code);
[[nodiscard]] ErrorCode error_code_of(abi::Return code);

/// True where asking again cannot help: the function, field or device feature does not exist here.
[[nodiscard]] bool means_unsupported(abi::Return code);

/// "GPU-… (Tesla V100-PCIE-16GB, 00000000:1B:00.0)": how every message of this backend names a GPU.
[[nodiscard]] std::string describe(const GpuIdentity& gpu);

/// `doing` reads like "GPU-… (…): cannot set the power limit to 150 W".
[[nodiscard]] Error from_return(abi::Return code, std::string_view doing);

}  // namespace rubato::device::nvml
