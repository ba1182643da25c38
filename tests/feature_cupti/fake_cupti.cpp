// libcupti.so.13 and libcuda.so.1 in one, as far as rubato calls them.
#include "feature_cupti/fake_cupti.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "feature/cupti/abi.h"

using namespace rubato::feature::cupti;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

fake::Cupti state;

struct FakeHost {
  std::vector<std::string> metrics;
};

int result_of(const char* symbol) {
  const auto found = state.results.find(symbol);
  return found == state.results.end() ? 0 : found->second;
}

template <class Params>
bool sound(const Params* params) {
  return params->size == abi::size_of<Params>() && params->reserved == nullptr;
}

constexpr int kInvalidParameter = 1;

// An image of decoded records: how many, then their lengths.
std::vector<std::uint64_t>& decoded() {
  static std::vector<std::uint64_t> lengths;
  return lengths;
}

}  // namespace

EXPORT fake::Cupti* fake_cupti() {
  return &state;
}

EXPORT int cuInit(unsigned) {
  return state.cuda_init;
}
EXPORT int cuDriverGetVersion(int* version) {
  *version = state.driver_version;
  return 0;
}
EXPORT int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(state.pci_bus_ids.size());
  return 0;
}
EXPORT int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}
EXPORT int cuDeviceGetPCIBusId(char* text, int size, int device) {
  const std::string& id = state.pci_bus_ids.at(static_cast<std::size_t>(device));
  if (size <= static_cast<int>(id.size())) return kInvalidParameter;
  std::memcpy(text, id.c_str(), id.size() + 1);
  return 0;
}

EXPORT int cuptiGetVersion(std::uint32_t* version) {
  *version = state.version;
  return result_of("cuptiGetVersion");
}
EXPORT int cuptiProfilerInitialize(abi::ProfilerInitialize* params) {
  return sound(params) ? result_of("cuptiProfilerInitialize") : kInvalidParameter;
}
EXPORT int cuptiDeviceGetChipName(abi::ChipName* params) {
  params->name = state.chip.c_str();
  return sound(params) ? result_of("cuptiDeviceGetChipName") : kInvalidParameter;
}
EXPORT int cuptiProfilerHostInitialize(abi::HostInitialize* params) {
  if (!sound(params) || params->profiler != abi::kPmSampling) return kInvalidParameter;
  if (const int code = result_of("cuptiProfilerHostInitialize"); code != 0) return code;
  params->host = std::make_unique<FakeHost>().release();
  ++state.hosts;
  return 0;
}
EXPORT int cuptiProfilerHostDeinitialize(abi::OnHost* params) {
  const std::unique_ptr<FakeHost> host(static_cast<FakeHost*>(params->host));
  --state.hosts;
  return 0;
}
EXPORT int cuptiProfilerHostGetSupportedChips(abi::SupportedChips* params) {
  static const char* chip = nullptr;
  chip = state.chip.c_str();
  params->count = 1;
  params->names = &chip;
  return 0;
}
EXPORT int cuptiProfilerHostConfigAddMetrics(abi::AddMetrics* params) {
  if (!sound(params)) return kInvalidParameter;
  auto* host = static_cast<FakeHost*>(params->host);
  for (std::size_t i = 0; i < params->count; ++i) {
    const std::string name = params->names[i];
    const auto lacks = [&](const std::string& beginning) { return name.starts_with(beginning); };
    if (std::any_of(state.unknown.begin(), state.unknown.end(), lacks)) return kInvalidParameter;
    host->metrics.push_back(name);
  }
  return 0;
}
EXPORT int cuptiProfilerHostGetConfigImageSize(abi::ConfigSize* params) {
  params->bytes = 1;
  return sound(params) ? 0 : kInvalidParameter;
}
EXPORT int cuptiProfilerHostGetConfigImage(abi::GetConfig* params) {
  *params->config = static_cast<std::uint8_t>(static_cast<FakeHost*>(params->host)->metrics.size());
  return sound(params) ? 0 : kInvalidParameter;
}
EXPORT int cuptiProfilerHostGetNumOfPasses(abi::Passes* params) {
  params->passes = *params->config <= state.most_metrics ? 1 : 2;
  return sound(params) ? 0 : kInvalidParameter;
}
EXPORT int cuptiProfilerHostEvaluateToGpuValues(abi::Evaluate* params) {
  if (!sound(params) || params->sample >= decoded().size()) return kInvalidParameter;
  for (std::size_t i = 0; i < params->count; ++i) {
    const auto value = state.values.find(params->names[i]);
    params->values[i] = value == state.values.end() ? 50 : value->second;
  }
  return 0;
}

EXPORT int cuptiPmSamplingGetCounterAvailability(abi::Availability* params) {
  if (params->image == nullptr) params->bytes = 4;
  return sound(params) ? result_of("cuptiPmSamplingGetCounterAvailability") : kInvalidParameter;
}
EXPORT int cuptiPmSamplingEnable(abi::Enable* params) {
  if (!sound(params)) return kInvalidParameter;
  if (const int code = result_of("cuptiPmSamplingEnable"); code != 0) return code;
  if (state.enabled > 0) return abi::kInvalidOperation;
  state.device = params->device;
  params->sampler = &state;
  ++state.enabled;
  return 0;
}
EXPORT int cuptiPmSamplingDisable(abi::OnSampler*) {
  --state.enabled;
  return 0;
}
EXPORT int cuptiPmSamplingSetConfig(abi::SetConfig* params) {
  if (!sound(params) || params->config_bytes != 1 || params->buffer_bytes == 0) return kInvalidParameter;
  if (*params->config > state.most_metrics) return abi::kNotSupported;
  state.interval = params->interval;
  state.trigger = params->trigger;
  return result_of("cuptiPmSamplingSetConfig");
}
EXPORT int cuptiPmSamplingStart(abi::OnSampler*) {
  if (const int code = result_of("cuptiPmSamplingStart"); code != 0) return code;
  ++state.started;
  return 0;
}
EXPORT int cuptiPmSamplingStop(abi::OnSampler*) {
  --state.started;
  return 0;
}
EXPORT int cuptiPmSamplingGetCounterDataSize(abi::DataSize* params) {
  params->bytes = 64;
  return sound(params) ? 0 : kInvalidParameter;
}
EXPORT int cuptiPmSamplingCounterDataImageInitialize(abi::DataInitialize* params) {
  decoded().clear();
  return sound(params) ? 0 : kInvalidParameter;
}
EXPORT int cuptiPmSamplingDecodeData(abi::Decode* params) {
  if (!sound(params)) return kInvalidParameter;
  const std::size_t taken = std::min(state.room, state.records.size());
  const auto end = state.records.begin() + static_cast<std::ptrdiff_t>(taken);
  decoded().assign(state.records.begin(), end);
  state.records.erase(state.records.begin(), end);
  params->stopped_by = state.records.empty() ? 2 : abi::kStoppedByFullImage;
  params->overflow = state.overflow ? 1 : 0;
  return result_of("cuptiPmSamplingDecodeData");
}
EXPORT int cuptiPmSamplingGetCounterDataInfo(abi::DataInfo* params) {
  params->room = state.room;
  params->populated = params->completed = decoded().size();
  return sound(params) ? 0 : kInvalidParameter;
}
EXPORT int cuptiPmSamplingCounterDataGetSampleInfo(abi::SampleInfo* params) {
  params->begin = 1000;
  params->end = 1000 + decoded().at(params->sample);
  return sound(params) ? 0 : kInvalidParameter;
}
