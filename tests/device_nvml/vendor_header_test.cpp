// Our declarations against the vendor's own header, of whatever version is at hand.
#include <gtest/gtest.h>

#include "device/nvml/abi.h"

#ifdef HAVE_VENDOR_HEADER
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>

#include <type_traits>
#endif

namespace rubato::device::nvml::abi {
namespace {

#ifndef HAVE_VENDOR_HEADER

TEST(VendorHeader, AgreesWithOurDeclarations) {
  GTEST_SKIP() << "no nvml.h found; unpack one (for example the wheel nvidia-nvml-dev) and configure with "
                  "-DRUBATO_NVML_HEADERS=FOLDER";
}

#else

TEST(VendorHeader, StructuresHaveTheSamePlaces) {
  EXPECT_EQ(sizeof(FieldValue), sizeof(nvmlFieldValue_t));
  EXPECT_EQ(offsetof(FieldValue, scope), offsetof(nvmlFieldValue_t, scopeId));
  EXPECT_EQ(offsetof(FieldValue, timestamp_us), offsetof(nvmlFieldValue_t, timestamp));
  EXPECT_EQ(offsetof(FieldValue, latency_us), offsetof(nvmlFieldValue_t, latencyUsec));
  EXPECT_EQ(offsetof(FieldValue, type), offsetof(nvmlFieldValue_t, valueType));
  EXPECT_EQ(offsetof(FieldValue, result), offsetof(nvmlFieldValue_t, nvmlReturn));
  EXPECT_EQ(offsetof(FieldValue, value), offsetof(nvmlFieldValue_t, value));
  EXPECT_EQ(sizeof(PciInfo), sizeof(nvmlPciInfo_t));
  EXPECT_EQ(offsetof(PciInfo, bus_id), offsetof(nvmlPciInfo_t, busId));
  EXPECT_EQ(offsetof(PciInfo, domain), offsetof(nvmlPciInfo_t, domain));
  EXPECT_EQ(sizeof(Utilization), sizeof(nvmlUtilization_t));
  EXPECT_EQ(sizeof(Memory), sizeof(nvmlMemory_t));
  EXPECT_EQ(sizeof(MemoryV2), sizeof(nvmlMemory_v2_t));
  EXPECT_EQ(offsetof(MemoryV2, used), offsetof(nvmlMemory_v2_t, used));
  EXPECT_EQ(sizeof(ProcessV1), sizeof(nvmlProcessInfo_v1_t));
  EXPECT_EQ(sizeof(Process), sizeof(nvmlProcessInfo_t));
  EXPECT_EQ(offsetof(Process, gpu_instance), offsetof(nvmlProcessInfo_t, gpuInstanceId));
  EXPECT_EQ(sizeof(ViolationTime), sizeof(nvmlViolationTime_t));
  EXPECT_EQ(offsetof(ViolationTime, violation_ns), offsetof(nvmlViolationTime_t, violationTime));
  EXPECT_EQ(kMemoryVersion2, nvmlMemory_v2);
}

TEST(VendorHeader, NumbersMeanTheSame) {
  EXPECT_EQ(kFieldTimePowerCap, static_cast<unsigned>(NVML_FI_DEV_PERF_POLICY_POWER));
  EXPECT_EQ(kFieldTotalEnergy, static_cast<unsigned>(NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION));
  EXPECT_EQ(kClockGraphics, static_cast<int>(NVML_CLOCK_GRAPHICS));
  EXPECT_EQ(kClockSm, static_cast<int>(NVML_CLOCK_SM));
  EXPECT_EQ(kClockMemory, static_cast<int>(NVML_CLOCK_MEM));
  EXPECT_EQ(kTemperatureGpu, static_cast<int>(NVML_TEMPERATURE_GPU));
  EXPECT_EQ(kPerfPolicyPower, static_cast<int>(NVML_PERF_POLICY_POWER));
  EXPECT_EQ(kPerfPolicyThermal, static_cast<int>(NVML_PERF_POLICY_THERMAL));
  EXPECT_EQ(kPerformanceStateUnknown, static_cast<unsigned>(NVML_PSTATE_UNKNOWN));
  EXPECT_EQ(kVirtualizationVgpu, static_cast<int>(NVML_GPU_VIRTUALIZATION_MODE_VGPU));
  EXPECT_EQ(kVirtualizationHostVgpu, static_cast<int>(NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU));
  EXPECT_EQ(kVirtualizationHostVsga, static_cast<int>(NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA));
  EXPECT_EQ(kArchVolta, static_cast<unsigned>(NVML_DEVICE_ARCH_VOLTA));
  EXPECT_EQ(kArchAmpere, static_cast<unsigned>(NVML_DEVICE_ARCH_AMPERE));
  EXPECT_EQ(kReasonIdle, nvmlClocksThrottleReasonGpuIdle);
  EXPECT_EQ(kReasonUserClocks, nvmlClocksThrottleReasonApplicationsClocksSetting);
  EXPECT_EQ(kReasonSwPowerCap, nvmlClocksThrottleReasonSwPowerCap);
  EXPECT_EQ(kReasonHwSlowdown, nvmlClocksThrottleReasonHwSlowdown);
  EXPECT_EQ(kReasonSyncBoost, nvmlClocksThrottleReasonSyncBoost);
  EXPECT_EQ(kReasonSwThermal, nvmlClocksThrottleReasonSwThermalSlowdown);
  EXPECT_EQ(kReasonHwThermal, nvmlClocksThrottleReasonHwThermalSlowdown);
  EXPECT_EQ(kReasonHwPowerBrake, nvmlClocksThrottleReasonHwPowerBrakeSlowdown);
  EXPECT_EQ(kReasonDisplay, nvmlClocksThrottleReasonDisplayClockSetting);
}

TEST(VendorHeader, ReturnCodesMeanTheSame) {
  EXPECT_EQ(kUninitialized, NVML_ERROR_UNINITIALIZED);
  EXPECT_EQ(kInvalidArgument, NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(kNotSupported, NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(kNoPermission, NVML_ERROR_NO_PERMISSION);
  EXPECT_EQ(kNotFound, NVML_ERROR_NOT_FOUND);
  EXPECT_EQ(kInsufficientSize, NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(kDriverNotLoaded, NVML_ERROR_DRIVER_NOT_LOADED);
  EXPECT_EQ(kTimeout, NVML_ERROR_TIMEOUT);
  EXPECT_EQ(kFunctionNotFound, NVML_ERROR_FUNCTION_NOT_FOUND);
  EXPECT_EQ(kGpuIsLost, NVML_ERROR_GPU_IS_LOST);
  EXPECT_EQ(kResetRequired, NVML_ERROR_RESET_REQUIRED);
  EXPECT_EQ(kLibRmVersionMismatch, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
  EXPECT_EQ(kNoData, NVML_ERROR_NO_DATA);
  EXPECT_EQ(kUnknown, NVML_ERROR_UNKNOWN);
}

TEST(VendorHeader, FieldsThatCameWithLaterDrivers) {
#ifndef NVML_FI_DEV_POWER_REQUESTED_LIMIT
  GTEST_SKIP() << "this header is older than the power fields";
#else
  EXPECT_EQ(kFieldPowerAverage, static_cast<unsigned>(NVML_FI_DEV_POWER_AVERAGE));
  EXPECT_EQ(kFieldPowerInstant, static_cast<unsigned>(NVML_FI_DEV_POWER_INSTANT));
  EXPECT_EQ(kFieldPowerMinLimit, static_cast<unsigned>(NVML_FI_DEV_POWER_MIN_LIMIT));
  EXPECT_EQ(kFieldPowerMaxLimit, static_cast<unsigned>(NVML_FI_DEV_POWER_MAX_LIMIT));
  EXPECT_EQ(kFieldPowerDefaultLimit, static_cast<unsigned>(NVML_FI_DEV_POWER_DEFAULT_LIMIT));
  EXPECT_EQ(kFieldPowerCurrentLimit, static_cast<unsigned>(NVML_FI_DEV_POWER_CURRENT_LIMIT));
  EXPECT_EQ(kFieldEnergy, static_cast<unsigned>(NVML_FI_DEV_ENERGY));
  EXPECT_EQ(kFieldPowerRequestedLimit, static_cast<unsigned>(NVML_FI_DEV_POWER_REQUESTED_LIMIT));
  EXPECT_EQ(kScopeGpu, NVML_POWER_SCOPE_GPU);
  EXPECT_EQ(kScopeModule, NVML_POWER_SCOPE_MODULE);
#ifdef NVML_POWER_SCOPE_MEMORY
  EXPECT_EQ(kScopeMemory, NVML_POWER_SCOPE_MEMORY);
#endif
  EXPECT_EQ(sizeof(PowerValueV2), sizeof(nvmlPowerValue_v2_t));
#endif
}

TEST(VendorHeader, PerformanceMonitorsHaveTheSamePlacesAndNumbers) {
#ifndef NVML_GPM_METRICS_GET_VERSION
  GTEST_SKIP() << "this header is older than GPM";
#else
  EXPECT_EQ(sizeof(GpmMetric), sizeof(nvmlGpmMetric_t));
  EXPECT_EQ(offsetof(GpmMetric, result), offsetof(nvmlGpmMetric_t, nvmlReturn));
  EXPECT_EQ(offsetof(GpmMetric, value), offsetof(nvmlGpmMetric_t, value));
  EXPECT_EQ(offsetof(GpmMetricsGet, count), offsetof(nvmlGpmMetricsGet_t, numMetrics));
  EXPECT_EQ(offsetof(GpmMetricsGet, earlier), offsetof(nvmlGpmMetricsGet_t, sample1));
  EXPECT_EQ(offsetof(GpmMetricsGet, later), offsetof(nvmlGpmMetricsGet_t, sample2));
  EXPECT_EQ(offsetof(GpmMetricsGet, metrics), offsetof(nvmlGpmMetricsGet_t, metrics));
  EXPECT_GE(sizeof(GpmMetricsGet), sizeof(nvmlGpmMetricsGet_t)) << "a driver may clear all it knows";
  EXPECT_EQ(sizeof(GpmSupport), sizeof(nvmlGpmSupport_t));
  EXPECT_EQ(offsetof(GpmSupport, supported), offsetof(nvmlGpmSupport_t, isSupportedDevice));
  EXPECT_EQ(kGpmMetricsGetVersion, static_cast<unsigned>(NVML_GPM_METRICS_GET_VERSION));
  EXPECT_EQ(kGpmSupportVersion, static_cast<unsigned>(NVML_GPM_SUPPORT_VERSION));
  EXPECT_EQ(kGpmSmActive, static_cast<unsigned>(NVML_GPM_METRIC_SM_UTIL));
  EXPECT_EQ(kGpmSmOccupancy, static_cast<unsigned>(NVML_GPM_METRIC_SM_OCCUPANCY));
  EXPECT_EQ(kGpmInteger, static_cast<unsigned>(NVML_GPM_METRIC_INTEGER_UTIL));
  EXPECT_EQ(kGpmTensor, static_cast<unsigned>(NVML_GPM_METRIC_ANY_TENSOR_UTIL));
  EXPECT_EQ(kGpmDram, static_cast<unsigned>(NVML_GPM_METRIC_DRAM_BW_UTIL));
  EXPECT_EQ(kGpmFp64, static_cast<unsigned>(NVML_GPM_METRIC_FP64_UTIL));
  EXPECT_EQ(kGpmFp32, static_cast<unsigned>(NVML_GPM_METRIC_FP32_UTIL));
  EXPECT_EQ(kGpmFp16, static_cast<unsigned>(NVML_GPM_METRIC_FP16_UTIL));
  EXPECT_EQ(kGpmPcieTx, static_cast<unsigned>(NVML_GPM_METRIC_PCIE_TX_PER_SEC));
  EXPECT_EQ(kGpmPcieRx, static_cast<unsigned>(NVML_GPM_METRIC_PCIE_RX_PER_SEC));
  EXPECT_EQ(kGpmNvlinkRx, static_cast<unsigned>(NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC));
  EXPECT_EQ(kGpmNvlinkTx, static_cast<unsigned>(NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC));
#endif
}

TEST(VendorHeader, LimiterTimesAreTheseFieldsOrThoseOfTheFirstNumbering) {
#ifndef NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN
  GTEST_SKIP() << "this header is older than the limiter times";
#else
  // The numbering that driver_version.h keeps away from.
  const bool first = NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN == 251;
  const unsigned shift = first ? 18 : 0;
  EXPECT_EQ(kFieldTimeSwThermal - shift,
            static_cast<unsigned>(NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN));
  EXPECT_EQ(kFieldTimeHwThermal - shift,
            static_cast<unsigned>(NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN));
  EXPECT_EQ(kFieldTimePowerBrake - shift,
            static_cast<unsigned>(NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN));
  EXPECT_EQ(kFieldTimePowerCap, static_cast<unsigned>(NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP));
#endif
}

#endif

}  // namespace
}  // namespace rubato::device::nvml::abi
