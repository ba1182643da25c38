// Our declarations against the vendor's own headers of one version. It compiles where they agree.
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_result.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include "feature/cupti/abi.h"

using namespace rubato::feature::cupti;

#define SAME(ours, our_member, theirs, their_member)                                               \
  static_assert(offsetof(abi::ours, our_member) == offsetof(theirs, their_member), #their_member); \
  static_assert(sizeof(abi::ours::our_member) == sizeof(theirs::their_member), #their_member)
// As CUPTI's own users set it: up to the last member that we know.
#define SIZE(ours, theirs, last)                                                                      \
  static_assert(abi::size_of<abi::ours>() == offsetof(theirs, last) + sizeof(theirs::last), #theirs); \
  static_assert(offsetof(abi::ours, size) == offsetof(theirs, structSize), #theirs);                  \
  static_assert(offsetof(abi::ours, reserved) == offsetof(theirs, pPriv), #theirs)

SIZE(HostInitialize, CUpti_Profiler_Host_Initialize_Params, pHostObject);
SAME(HostInitialize, profiler, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME(HostInitialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME(HostInitialize, availability, CUpti_Profiler_Host_Initialize_Params, pCounterAvailabilityImage);
SAME(HostInitialize, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
SIZE(OnHost, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
SAME(OnHost, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
SIZE(SupportedChips, CUpti_Profiler_Host_GetSupportedChips_Params, ppChipNames);
SAME(SupportedChips, count, CUpti_Profiler_Host_GetSupportedChips_Params, numChips);
SIZE(AddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
SAME(AddMetrics, host, CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject);
SAME(AddMetrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SIZE(ConfigSize, CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize);
SAME(ConfigSize, host, CUpti_Profiler_Host_GetConfigImageSize_Params, pHostObject);
SIZE(GetConfig, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
SAME(GetConfig, host, CUpti_Profiler_Host_GetConfigImage_Params, pHostObject);
SAME(GetConfig, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
SIZE(Passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
SAME(Passes, bytes, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize);
SAME(Passes, config, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
SIZE(Evaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);
SAME(Evaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
SAME(Evaluate, bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params, counterDataImageSize);
SAME(Evaluate, sample, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
SAME(Evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
SAME(Evaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);

SIZE(ProfilerInitialize, CUpti_Profiler_Initialize_Params, pPriv);
SIZE(ChipName, CUpti_Device_GetChipName_Params, pChipName);
SAME(ChipName, device, CUpti_Device_GetChipName_Params, deviceIndex);
SIZE(Availability, CUpti_PmSampling_GetCounterAvailability_Params, pCounterAvailabilityImage);
SAME(Availability, device, CUpti_PmSampling_GetCounterAvailability_Params, deviceIndex);
SAME(Availability, bytes, CUpti_PmSampling_GetCounterAvailability_Params, counterAvailabilityImageSize);

SIZE(Enable, CUpti_PmSampling_Enable_Params, pPmSamplingObject);
SAME(Enable, device, CUpti_PmSampling_Enable_Params, deviceIndex);
SIZE(OnSampler, CUpti_PmSampling_Disable_Params, pPmSamplingObject);
SIZE(OnSampler, CUpti_PmSampling_Start_Params, pPmSamplingObject);
SIZE(OnSampler, CUpti_PmSampling_Stop_Params, pPmSamplingObject);
SAME(OnSampler, sampler, CUpti_PmSampling_Start_Params, pPmSamplingObject);
SIZE(SetConfig, CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode);
SAME(SetConfig, config_bytes, CUpti_PmSampling_SetConfig_Params, configSize);
SAME(SetConfig, config, CUpti_PmSampling_SetConfig_Params, pConfig);
SAME(SetConfig, buffer_bytes, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
SAME(SetConfig, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
SAME(SetConfig, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode);
SAME(SetConfig, when_full, CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode);
SIZE(DataSize, CUpti_PmSampling_GetCounterDataSize_Params, counterDataSize);
SAME(DataSize, names, CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames);
SAME(DataSize, count, CUpti_PmSampling_GetCounterDataSize_Params, numMetrics);
SAME(DataSize, most_samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
SIZE(DataInitialize, CUpti_PmSampling_CounterDataImage_Initialize_Params, pCounterData);
SAME(DataInitialize, bytes, CUpti_PmSampling_CounterDataImage_Initialize_Params, counterDataSize);
SIZE(Decode, CUpti_PmSampling_DecodeData_Params, overflow);
SAME(Decode, data, CUpti_PmSampling_DecodeData_Params, pCounterDataImage);
SAME(Decode, bytes, CUpti_PmSampling_DecodeData_Params, counterDataImageSize);
SAME(Decode, stopped_by, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
SAME(Decode, overflow, CUpti_PmSampling_DecodeData_Params, overflow);
SIZE(DataInfo, CUpti_PmSampling_GetCounterDataInfo_Params, numCompletedSamples);
SAME(DataInfo, bytes, CUpti_PmSampling_GetCounterDataInfo_Params, counterDataImageSize);
SAME(DataInfo, room, CUpti_PmSampling_GetCounterDataInfo_Params, numTotalSamples);
SAME(DataInfo, populated, CUpti_PmSampling_GetCounterDataInfo_Params, numPopulatedSamples);
SIZE(SampleInfo, CUpti_PmSampling_CounterData_GetSampleInfo_Params, endTimestamp);
SAME(SampleInfo, data, CUpti_PmSampling_CounterData_GetSampleInfo_Params, pCounterDataImage);
SAME(SampleInfo, sample, CUpti_PmSampling_CounterData_GetSampleInfo_Params, sampleIndex);
SAME(SampleInfo, begin, CUpti_PmSampling_CounterData_GetSampleInfo_Params, startTimestamp);

#define VALUE(ours, theirs) static_assert(static_cast<int>(abi::ours) == static_cast<int>(theirs), #theirs)
VALUE(kSuccess, CUPTI_SUCCESS);
VALUE(kInvalidOperation, CUPTI_ERROR_INVALID_OPERATION);
VALUE(kOutOfMemory, CUPTI_ERROR_OUT_OF_MEMORY);
VALUE(kNotInitialized, CUPTI_ERROR_NOT_INITIALIZED);
VALUE(kHardwareBusy, CUPTI_ERROR_HARDWARE_BUSY);
VALUE(kNotSupported, CUPTI_ERROR_NOT_SUPPORTED);
VALUE(kVirtualDevice, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
VALUE(kInsufficientPrivileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
VALUE(kVirtualDevicePrivileges, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
VALUE(kConfidentialComputing, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
VALUE(kMigDevice, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
VALUE(kPmSampling, CUPTI_PROFILER_TYPE_PM_SAMPLING);
VALUE(kTriggerSystemClock, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL);
VALUE(kTriggerTime, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
VALUE(kKeepOldest, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST);
VALUE(kStoppedByFullImage, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);

static_assert((CUPTI_API_VERSION >= abi::kOldestOf12 && CUPTI_API_VERSION <= abi::kLastOf12) ||
                  (CUPTI_API_VERSION >= abi::kFirstOf13 && CUPTI_API_VERSION < abi::kAfterNewest),
              "this version is one that rubato accepts");
