// Prints the numbers and sizes rubato and its stand-in take NVML to have, under the names that NVIDIA's
// Python bindings have for them: test_pynvml.py compares.
#include <cstdio>
#include <iterator>

#include "device/nvml/abi.h"
#include "simgpu/nvml/client_abi.h"

namespace {

namespace abi = rubato::device::nvml::abi;
namespace client = rubato::simgpu::client;

struct Line {
  const char* name;
  unsigned long long value;
};

constexpr Line kNumbers[] = {
    {"NVML_ERROR_UNINITIALIZED", abi::kUninitialized},
    {"NVML_ERROR_INVALID_ARGUMENT", abi::kInvalidArgument},
    {"NVML_ERROR_NOT_SUPPORTED", abi::kNotSupported},
    {"NVML_ERROR_NO_PERMISSION", abi::kNoPermission},
    {"NVML_ERROR_NOT_FOUND", abi::kNotFound},
    {"NVML_ERROR_INSUFFICIENT_SIZE", abi::kInsufficientSize},
    {"NVML_ERROR_DRIVER_NOT_LOADED", abi::kDriverNotLoaded},
    {"NVML_ERROR_TIMEOUT", abi::kTimeout},
    {"NVML_ERROR_GPU_IS_LOST", abi::kGpuIsLost},
    {"NVML_ERROR_RESET_REQUIRED", abi::kResetRequired},
    {"NVML_ERROR_ARGUMENT_VERSION_MISMATCH", abi::kArgumentVersionMismatch},
    {"NVML_DEVICE_ARCH_VOLTA", abi::kArchVolta},
    {"NVML_DEVICE_ARCH_BLACKWELL", abi::kArchBlackwell},
    {"NVML_CLOCK_ID_CUSTOMER_BOOST_MAX", abi::kClockIdBoostMax},
    {"NVML_FI_DEV_PERF_POLICY_POWER", abi::kFieldTimePowerCap},
    {"NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION", abi::kFieldTotalEnergy},
    {"NVML_FI_DEV_POWER_AVERAGE", abi::kFieldPowerAverage},
    {"NVML_FI_DEV_POWER_INSTANT", abi::kFieldPowerInstant},
    {"NVML_FI_DEV_POWER_MIN_LIMIT", abi::kFieldPowerMinLimit},
    {"NVML_FI_DEV_POWER_MAX_LIMIT", abi::kFieldPowerMaxLimit},
    {"NVML_FI_DEV_POWER_DEFAULT_LIMIT", abi::kFieldPowerDefaultLimit},
    {"NVML_FI_DEV_POWER_CURRENT_LIMIT", abi::kFieldPowerCurrentLimit},
    {"NVML_FI_DEV_ENERGY", abi::kFieldEnergy},
    {"NVML_FI_DEV_POWER_REQUESTED_LIMIT", abi::kFieldPowerRequestedLimit},
    {"NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN", abi::kFieldTimeSwThermal},
    {"NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN", abi::kFieldTimeHwThermal},
    {"NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN", abi::kFieldTimePowerBrake},
    {"NVML_POWER_SCOPE_MODULE", abi::kScopeModule},
    {"NVML_POWER_SCOPE_MEMORY", abi::kScopeMemory},
    {"NVML_PERF_POLICY_THERMAL", abi::kPerfPolicyThermal},
    {"NVML_PERF_POLICY_RELIABILITY", client::kPolicyLastSingle},
    {"NVML_PERF_POLICY_TOTAL_APP_CLOCKS", client::kPolicyTotalAppClocks},
    {"NVML_PERF_POLICY_TOTAL_BASE_CLOCKS", client::kPolicyTotalBaseClocks},
    {"NVML_GPM_METRIC_SM_UTIL", abi::kGpmSmActive},
    {"NVML_GPM_METRIC_SM_OCCUPANCY", abi::kGpmSmOccupancy},
    {"NVML_GPM_METRIC_INTEGER_UTIL", abi::kGpmInteger},
    {"NVML_GPM_METRIC_ANY_TENSOR_UTIL", abi::kGpmTensor},
    {"NVML_GPM_METRIC_DRAM_BW_UTIL", abi::kGpmDram},
    {"NVML_GPM_METRIC_FP64_UTIL", abi::kGpmFp64},
    {"NVML_GPM_METRIC_FP32_UTIL", abi::kGpmFp32},
    {"NVML_GPM_METRIC_FP16_UTIL", abi::kGpmFp16},
    {"NVML_GPM_METRIC_PCIE_TX_PER_SEC", abi::kGpmPcieTx},
    {"NVML_GPM_METRIC_PCIE_RX_PER_SEC", abi::kGpmPcieRx},
    {"NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC", abi::kGpmNvlinkRx},
    {"NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC", abi::kGpmNvlinkTx},
    {"NVML_TOTAL_POWER_SAMPLES", client::kSamplesPower},
    {"NVML_PROCESSOR_CLK_SAMPLES", client::kSamplesSmClock},
    {"NVML_MEMORY_CLK_SAMPLES", client::kSamplesMemoryClock},
    {"NVML_TEMPERATURE_THRESHOLD_SLOWDOWN", client::kThresholdHwSlowdown},
    {"NVML_TEMPERATURE_THRESHOLD_GPU_MAX", client::kThresholdSlowdown},
    {"NVML_BRAND_TESLA", client::kBrandTesla},
    {"NVML_BRAND_GEFORCE", client::kBrandGeforce},
    {"NVML_BRAND_NVIDIA_RTX", client::kBrandNvidiaRtx},
    {"NVML_BRAND_NVIDIA", client::kBrandNvidia},
    {"nvmlClocksEventReasonSwPowerCap", abi::kReasonSwPowerCap},
    {"nvmlClocksEventReasonSwThermalSlowdown", abi::kReasonSwThermal},
    {"nvmlClocksThrottleReasonHwSlowdown", abi::kReasonHwSlowdown},
    {"nvmlClocksThrottleReasonHwThermalSlowdown", abi::kReasonHwThermal},
    {"nvmlClocksThrottleReasonHwPowerBrakeSlowdown", abi::kReasonHwPowerBrake},
};

constexpr Line kSizes[] = {
    {"c_nvmlFieldValue_t", sizeof(abi::FieldValue)},
    {"nvmlPciInfo_t", sizeof(abi::PciInfo)},
    {"c_nvmlUtilization_t", sizeof(abi::Utilization)},
    {"c_nvmlMemory_t", sizeof(abi::Memory)},
    {"c_nvmlMemory_v2_t", sizeof(abi::MemoryV2)},
    {"c_nvmlProcessInfo_v2_t", sizeof(abi::Process)},
    {"c_nvmlViolationTime_t", sizeof(abi::ViolationTime)},
    {"c_nvmlGpmMetric_t", sizeof(abi::GpmMetric)},
    {"c_nvmlGpmSupport_t", sizeof(abi::GpmSupport)},
    {"c_nvmlSample_t", sizeof(client::SampleValue)},
    {"c_nvmlProcessUtilizationSample_t", sizeof(client::ProcessUtilization)},
    {"c_nvmlEventData_t", sizeof(client::EventData)},
    {"c_nvmlC2cModeInfo_v1_t", sizeof(client::C2cMode)},
};

void print(const char* what, const Line* begin, const Line* end) {
  std::printf("\"%s\": {", what);
  for (const Line* line = begin; line != end; ++line)
    std::printf("%s\"%s\": %llu", line == begin ? "" : ", ", line->name, line->value);
  std::printf("}");
}

}  // namespace

int main() {
  std::printf("{");
  print("numbers", std::begin(kNumbers), std::end(kNumbers));
  std::printf(", ");
  print("sizes", std::begin(kSizes), std::end(kSizes));
  std::printf("}\n");
  return 0;
}
