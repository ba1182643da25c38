// What of NVML's C interface the stand-in answers beyond abi.h: what other programs call and rubato does not.
// Numbers and layouts from the NVML API reference (docs.nvidia.com/deploy/nvml-api).
#pragma once

#include <cstddef>

#include "device/nvml/abi.h"

namespace rubato::simgpu::client {

namespace abi = device::nvml::abi;

inline constexpr int kPolicyLastSingle = 5;  // of the single limiters, which begin with abi::kPerfPolicyPower
inline constexpr int kPolicyTotalAppClocks = 10;
inline constexpr int kPolicyTotalBaseClocks = 11;

inline constexpr int kSamplesPower = 0;
inline constexpr int kSamplesGpuUtilisation = 1;
inline constexpr int kSamplesMemoryUtilisation = 2;
inline constexpr int kSamplesSmClock = 5;
inline constexpr int kSamplesMemoryClock = 6;
inline constexpr int kSamplesModulePower = 7;
inline constexpr int kSamplesLast = 9;

inline constexpr int kThresholdHwSlowdown = 1;
inline constexpr int kThresholdSlowdown = 3;
inline constexpr int kThresholdLast = 7;

inline constexpr unsigned kBrandTesla = 2;
inline constexpr unsigned kBrandGeforce = 5;
inline constexpr unsigned kBrandNvidiaRtx = 13;
inline constexpr unsigned kBrandNvidia = 14;

struct SampleValue {
  unsigned long long timestamp_us;  // since 1970
  abi::Value value;
};
static_assert(sizeof(SampleValue) == 16);

struct ProcessUtilization {
  unsigned int pid;
  unsigned long long timestamp_us;  // since 1970
  unsigned int sm;                  // percent of time
  unsigned int memory;
  unsigned int encoder;
  unsigned int decoder;
};
static_assert(sizeof(ProcessUtilization) == 32 && offsetof(ProcessUtilization, sm) == 16);

struct C2cMode {
  unsigned int enabled;
};
static_assert(sizeof(C2cMode) == 4);

struct EventData {
  abi::Device device;
  unsigned long long type;
  unsigned long long data;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};
static_assert(sizeof(EventData) == 32);

}  // namespace rubato::simgpu::client
