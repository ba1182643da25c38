// The few calls, structures and numbers of CUPTI's PM sampling that rubato uses, and three of the CUDA
// driver, declared anew so that neither is needed to build. tests/feature_cupti/vendor/layout.cpp compares
// them with the vendor's headers of several versions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rubato::feature::cupti::abi {

// As cuptiGetVersion says it: 26 is CUDA 12.8, 28 is 12.9; from 13.0 on major, minor and patch as decimal
// digits. In 12.6 (24) the sampler's configuration ends earlier; nothing newer than 13.5 was compared.
inline constexpr std::uint32_t kOldestOf12 = 26;
inline constexpr std::uint32_t kLastOf12 = 28;
inline constexpr std::uint32_t kFirstOf13 = 130000;
inline constexpr std::uint32_t kAfterNewest = 130600;

enum Result : int {
  kSuccess = 0,
  kInvalidOperation = 7,
  kOutOfMemory = 8,
  kNotInitialized = 15,
  kHardwareBusy = 26,
  kNotSupported = 27,
  kVirtualDevice = 33,
  kInsufficientPrivileges = 35,
  kVirtualDevicePrivileges = 40,
  kConfidentialComputing = 41,
  kMigDevice = 43,
};

inline constexpr std::int32_t kPmSampling = 1;          // a kind of profiler
inline constexpr std::int32_t kTriggerSystemClock = 0;  // the interval counts cycles
inline constexpr std::int32_t kTriggerTime = 1;         // nanoseconds; neither Turing nor GA100 has it
inline constexpr std::int32_t kKeepOldest = 0;          // what a full hardware buffer keeps
inline constexpr std::int32_t kStoppedByFullImage = 1;

// Every structure says its size, up to its last member; a library that knows more members goes by it.
struct Head {
  std::size_t size = 0;
  void* reserved = nullptr;
};

struct HostInitialize : Head {
  std::int32_t profiler = kPmSampling;
  const char* chip = nullptr;
  const std::uint8_t* availability = nullptr;
  void* host = nullptr;
  // Room only: 13.5 clears the member that follows there, whatever the size says.
  const char* not_told = nullptr;
};
struct OnHost : Head {
  void* host = nullptr;
};
struct SupportedChips : Head {
  std::size_t count = 0;
  const char* const* names = nullptr;
};
struct AddMetrics : Head {
  void* host = nullptr;
  const char** names = nullptr;
  std::size_t count = 0;
};
struct ConfigSize : Head {
  void* host = nullptr;
  std::size_t bytes = 0;
};
struct GetConfig : Head {
  void* host = nullptr;
  std::size_t bytes = 0;
  std::uint8_t* config = nullptr;
};
struct Passes : Head {
  std::size_t bytes = 0;
  std::uint8_t* config = nullptr;
  std::size_t passes = 0;
};
struct Evaluate : Head {
  void* host = nullptr;
  const std::uint8_t* data = nullptr;
  std::size_t bytes = 0;
  std::size_t sample = 0;
  const char** names = nullptr;
  std::size_t count = 0;
  double* values = nullptr;
};

struct ProfilerInitialize : Head {};
struct ChipName : Head {
  std::size_t device = 0;
  const char* name = nullptr;
};
struct Availability : Head {
  std::size_t device = 0;
  std::size_t bytes = 0;
  std::uint8_t* image = nullptr;
};

struct Enable : Head {
  std::size_t device = 0;
  void* sampler = nullptr;
};
struct OnSampler : Head {
  void* sampler = nullptr;
};
struct SetConfig : Head {
  void* sampler = nullptr;
  std::size_t config_bytes = 0;
  const std::uint8_t* config = nullptr;
  std::size_t buffer_bytes = 0;
  std::uint64_t interval = 0;
  std::int32_t trigger = kTriggerTime;
  std::int32_t when_full = kKeepOldest;
};
struct DataSize : Head {
  void* sampler = nullptr;
  const char** names = nullptr;
  std::size_t count = 0;
  std::uint32_t most_samples = 0;
  std::size_t bytes = 0;
};
struct DataInitialize : Head {
  void* sampler = nullptr;
  std::size_t bytes = 0;
  std::uint8_t* data = nullptr;
};
struct Decode : Head {
  void* sampler = nullptr;
  std::uint8_t* data = nullptr;
  std::size_t bytes = 0;
  std::int32_t stopped_by = 0;
  std::uint8_t overflow = 0;
};
struct DataInfo : Head {
  const std::uint8_t* data = nullptr;
  std::size_t bytes = 0;
  std::size_t room = 0;
  std::size_t populated = 0;
  std::size_t completed = 0;
};
struct SampleInfo : Head {
  void* sampler = nullptr;
  const std::uint8_t* data = nullptr;
  std::size_t bytes = 0;
  std::size_t sample = 0;
  std::uint64_t begin = 0;  // ns, on the GPU's clock
  std::uint64_t end = 0;
};

/// What goes into `size`: up to the last member that every version has, without the padding behind it.
template <class Params>
[[nodiscard]] constexpr std::size_t size_of() {
  return sizeof(Params);
}
template <>
[[nodiscard]] constexpr std::size_t size_of<HostInitialize>() {
  return sizeof(HostInitialize) - sizeof(const char*);
}
template <>
[[nodiscard]] constexpr std::size_t size_of<Decode>() {
  return sizeof(Head) + 3 * sizeof(void*) + sizeof(std::int32_t) + sizeof(std::uint8_t);
}

// name in the table, symbol, parameters. All return a Result.
#define RUBATO_CUPTI_CALLS(X)                                                      \
  X(get_version, "cuptiGetVersion", std::uint32_t*)                                \
  X(initialize, "cuptiProfilerInitialize", ProfilerInitialize*)                    \
  X(chip_name, "cuptiDeviceGetChipName", ChipName*)                                \
  X(host_initialize, "cuptiProfilerHostInitialize", HostInitialize*)               \
  X(host_deinitialize, "cuptiProfilerHostDeinitialize", OnHost*)                   \
  X(host_chips, "cuptiProfilerHostGetSupportedChips", SupportedChips*)             \
  X(host_add_metrics, "cuptiProfilerHostConfigAddMetrics", AddMetrics*)            \
  X(host_config_size, "cuptiProfilerHostGetConfigImageSize", ConfigSize*)          \
  X(host_config, "cuptiProfilerHostGetConfigImage", GetConfig*)                    \
  X(host_passes, "cuptiProfilerHostGetNumOfPasses", Passes*)                       \
  X(host_evaluate, "cuptiProfilerHostEvaluateToGpuValues", Evaluate*)              \
  X(availability, "cuptiPmSamplingGetCounterAvailability", Availability*)          \
  X(enable, "cuptiPmSamplingEnable", Enable*)                                      \
  X(disable, "cuptiPmSamplingDisable", OnSampler*)                                 \
  X(set_config, "cuptiPmSamplingSetConfig", SetConfig*)                            \
  X(start, "cuptiPmSamplingStart", OnSampler*)                                     \
  X(stop, "cuptiPmSamplingStop", OnSampler*)                                       \
  X(data_size, "cuptiPmSamplingGetCounterDataSize", DataSize*)                     \
  X(data_initialize, "cuptiPmSamplingCounterDataImageInitialize", DataInitialize*) \
  X(decode, "cuptiPmSamplingDecodeData", Decode*)                                  \
  X(data_info, "cuptiPmSamplingGetCounterDataInfo", DataInfo*)                     \
  X(sample_info, "cuptiPmSamplingCounterDataGetSampleInfo", SampleInfo*)

struct Calls {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name and a type take none
#define RUBATO_MEMBER(name, symbol, parameter) int (*name)(parameter) = nullptr;
  RUBATO_CUPTI_CALLS(RUBATO_MEMBER)
#undef RUBATO_MEMBER
};

// Of libcuda, where 0 is success.
struct CudaCalls {
  int (*init)(unsigned flags) = nullptr;
  int (*driver_version)(int* version) = nullptr;  // 12040 is CUDA 12.4
  int (*device_count)(int* count) = nullptr;
  int (*device)(int* device, int index) = nullptr;
  int (*pci_bus_id)(char* text, int size, int device) = nullptr;
};

}  // namespace rubato::feature::cupti::abi
