#include "device/nvml/errors.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace rubato::device::nvml {
namespace {

struct Row {
  abi::Return code;
  std::string_view name;
  ErrorCode as;
};

constexpr std::array kRows = {
    Row{abi::kUninitialized, "NVML_ERROR_UNINITIALIZED", ErrorCode::device_lost},
    Row{abi::kInvalidArgument, "NVML_ERROR_INVALID_ARGUMENT", ErrorCode::invalid_argument},
    Row{abi::kNotSupported, "NVML_ERROR_NOT_SUPPORTED", ErrorCode::not_supported},
    Row{abi::kNoPermission, "NVML_ERROR_NO_PERMISSION", ErrorCode::no_permission},
    Row{abi::kNotFound, "NVML_ERROR_NOT_FOUND", ErrorCode::not_found},
    Row{abi::kInsufficientSize, "NVML_ERROR_INSUFFICIENT_SIZE", ErrorCode::internal},
    Row{abi::kInsufficientPower, "NVML_ERROR_INSUFFICIENT_POWER", ErrorCode::unavailable},
    Row{abi::kDriverNotLoaded, "NVML_ERROR_DRIVER_NOT_LOADED", ErrorCode::unavailable},
    Row{abi::kTimeout, "NVML_ERROR_TIMEOUT", ErrorCode::timeout},
    Row{abi::kIrqIssue, "NVML_ERROR_IRQ_ISSUE", ErrorCode::unavailable},
    Row{abi::kLibraryNotFound, "NVML_ERROR_LIBRARY_NOT_FOUND", ErrorCode::unavailable},
    Row{abi::kFunctionNotFound, "NVML_ERROR_FUNCTION_NOT_FOUND", ErrorCode::not_supported},
    Row{abi::kCorruptedInforom, "NVML_ERROR_CORRUPTED_INFOROM", ErrorCode::unavailable},
    Row{abi::kGpuIsLost, "NVML_ERROR_GPU_IS_LOST", ErrorCode::device_lost},
    Row{abi::kResetRequired, "NVML_ERROR_RESET_REQUIRED", ErrorCode::device_lost},
    Row{abi::kOperatingSystem, "NVML_ERROR_OPERATING_SYSTEM", ErrorCode::no_permission},
    Row{abi::kLibRmVersionMismatch, "NVML_ERROR_LIB_RM_VERSION_MISMATCH", ErrorCode::unavailable},
    Row{abi::kInUse, "NVML_ERROR_IN_USE", ErrorCode::busy},
    Row{abi::kMemory, "NVML_ERROR_MEMORY", ErrorCode::unavailable},
    Row{abi::kNoData, "NVML_ERROR_NO_DATA", ErrorCode::unavailable},
    Row{abi::kInsufficientResources, "NVML_ERROR_INSUFFICIENT_RESOURCES", ErrorCode::unavailable},
    Row{abi::kFreqNotSupported, "NVML_ERROR_FREQ_NOT_SUPPORTED", ErrorCode::invalid_argument},
    Row{abi::kArgumentVersionMismatch, "NVML_ERROR_ARGUMENT_VERSION_MISMATCH", ErrorCode::not_supported},
    Row{abi::kDeprecated, "NVML_ERROR_DEPRECATED", ErrorCode::not_supported},
    Row{abi::kNotReady, "NVML_ERROR_NOT_READY", ErrorCode::unavailable},
    Row{abi::kGpuNotFound, "NVML_ERROR_GPU_NOT_FOUND", ErrorCode::not_found},
    Row{abi::kInvalidState, "NVML_ERROR_INVALID_STATE", ErrorCode::unavailable},
    Row{abi::kUnknown, "NVML_ERROR_UNKNOWN", ErrorCode::internal},
};

const Row* find(abi::Return code) {
  const auto* row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.code == code; });
  return row == kRows.end() ? nullptr : row;
}

std::string_view hint_for(abi::Return code) {
  switch (code) {
    case abi::kNoPermission:
      return "'rubato doctor' shows which right is missing; 'rubato run --sudo' asks for it";
    case abi::kOperatingSystem:
      return "the container or cgroup blocks the GPU's device files: 'rubato doctor' looks";
    case abi::kUninitialized:
      return "somebody reset the GPU or the driver while rubato held it: see 'dmesg | grep -i nvrm', then "
             "start "
             "rubato again";
    case abi::kGpuIsLost:
      return "the GPU fell off the bus: see 'dmesg | grep -i xid'; it needs a reset or a reboot";
    case abi::kResetRequired:
      return "reset the GPU ('nvidia-smi --gpu-reset') or reboot";
    case abi::kDriverNotLoaded:
      return "load the driver ('modprobe nvidia'), or try rubato with '--gpu sim:v100'";
    case abi::kLibRmVersionMismatch:
      return "the driver was updated while the old one still runs: reboot, or reload the nvidia modules";
    case abi::kTimeout:
      return "try again; if it stays, 'rubato doctor' and 'dmesg | grep -i xid'";
    case abi::kIrqIssue:
    case abi::kInsufficientPower:
      return "see 'dmesg | grep -i nvrm'";
    default:
      return "run 'rubato doctor'";
  }
}

}  // namespace

std::string name_of_return(abi::Return code) {
  if (code == abi::kSuccess) return "NVML_SUCCESS";
  const Row* row = find(code);
  return row != nullptr ? std::string(row->name) : cat("NVML error ", code);
}

ErrorCode error_code_of(abi::Return code) {
  const Row* row = find(code);
  return row != nullptr ? row->as : ErrorCode::internal;
}

bool means_unsupported(abi::Return code) {
  return code == abi::kNotSupported || code == abi::kFunctionNotFound || code == abi::kInvalidArgument ||
         code == abi::kDeprecated || code == abi::kArgumentVersionMismatch;
}

std::string describe(const GpuIdentity& gpu) {
  return cat(gpu.id.uuid, " (", gpu.name, ", ", gpu.pci_bus_id, ")");
}

Error from_return(abi::Return code, std::string_view doing) {
  return Error{error_code_of(code), cat(doing, ": ", name_of_return(code)), std::string(hint_for(code))};
}

}  // namespace rubato::device::nvml
