#include "feature/cupti/sampler.h"

#include "base/text.h"

namespace rubato::feature::cupti {
namespace {

constexpr std::uint32_t kMostSamples = 1024;  // decoded at once
static_assert(kMostSamples >= 4 * (kDrainEvery / kSampleInterval));

/// Turing and GA100 have no fixed clock to trigger by, only the system clock, which varies about 1 GHz
/// (cupti_pmsampling.h); every sample says how long it took.
bool lacks_time_trigger(std::string_view chip) {
  return chip.starts_with("TU") || chip == "GA100";
}

}  // namespace

Result<std::unique_ptr<Sampler>> Sampler::start(Api& api, const Plan& plan, std::size_t device) {
  auto host = Host::open(api, plan.chip, plan.availability);
  if (!host) return fail(host.error());
  if (auto added = host->add(metrics_of(plan.counted)); !added) return fail(added.error());
  abi::Enable enable;
  enable.device = device;
  if (auto enabled = api(&abi::Calls::enable, "cuptiPmSamplingEnable", enable); !enabled)
    return fail(enabled.error());
  std::unique_ptr<Sampler> sampler(new Sampler(api, plan, std::move(*host), enable.sampler));
  if (auto ready = sampler->configure(); !ready) return fail(ready.error());
  abi::OnSampler params;
  params.sampler = sampler->sampler_;
  if (auto started = api(&abi::Calls::start, "cuptiPmSamplingStart", params); !started)
    return fail(started.error());
  sampler->running_ = true;
  return sampler;
}

Status Sampler::configure() {
  abi::SetConfig config;
  config.sampler = sampler_;
  config.config_bytes = plan_.config.size();
  config.config = plan_.config.data();
  config.buffer_bytes = kBufferBytes;
  config.interval =
      static_cast<std::uint64_t>(kSampleInterval.value() * 1e9);  // ns, or cycles of about 1 GHz
  config.trigger = lacks_time_trigger(plan_.chip) ? abi::kTriggerSystemClock : abi::kTriggerTime;
  if (auto set = api_(&abi::Calls::set_config, "cuptiPmSamplingSetConfig", config); !set) return set;
  abi::DataSize size;
  size.sampler = sampler_;
  size.names = metrics_.data();
  size.count = metrics_.size();
  size.most_samples = kMostSamples;
  if (auto asked = api_(&abi::Calls::data_size, "cuptiPmSamplingGetCounterDataSize", size); !asked)
    return asked;
  data_.resize(size.bytes);
  return {};
}

Sampler::~Sampler() {
  static_cast<void>(stop());
  abi::OnSampler params;
  params.sampler = sampler_;
  static_cast<void>(api_.ask(&abi::Calls::disable, params));
}

Status Sampler::stop() {
  if (!running_) return {};
  running_ = false;
  abi::OnSampler params;
  params.sampler = sampler_;
  return api_(&abi::Calls::stop, "cuptiPmSamplingStop", params);
}

// After an image that was full, users report, the next ones hold records without times and what lay between
// is gone: so one call has to be enough.
Result<bool> Sampler::drain(Means& means, Fetched& fetched) {
  abi::DataInitialize blank;
  blank.sampler = sampler_;
  blank.bytes = data_.size();
  blank.data = data_.data();
  if (auto done = api_(&abi::Calls::data_initialize, "cuptiPmSamplingCounterDataImageInitialize", blank);
      !done)
    return fail(done.error());
  abi::Decode decode;
  decode.sampler = sampler_;
  decode.data = data_.data();
  decode.bytes = data_.size();
  ++fetched.calls;
  // A full hardware buffer is an error or a flag, by version.
  const int code = api_.ask(&abi::Calls::decode, decode);
  if (code != abi::kSuccess && code != abi::kOutOfMemory)
    return fail(refusal(code, "cuptiPmSamplingDecodeData"));
  if (auto read = read_samples(means, fetched); !read) return fail(read.error());
  return code == abi::kOutOfMemory || decode.overflow != 0 || decode.stopped_by == abi::kStoppedByFullImage;
}

Status Sampler::read_samples(Means& means, Fetched& fetched) {
  abi::DataInfo info;
  info.data = data_.data();
  info.bytes = data_.size();
  if (auto asked = api_(&abi::Calls::data_info, "cuptiPmSamplingGetCounterDataInfo", info); !asked)
    return asked;
  fetched.records += info.completed;
  for (std::size_t i = 0; i < info.completed; ++i) {
    abi::SampleInfo sample;
    sample.sampler = sampler_;
    sample.data = data_.data();
    sample.bytes = data_.size();
    sample.sample = i;
    if (auto asked = api_(&abi::Calls::sample_info, "cuptiPmSamplingCounterDataGetSampleInfo", sample);
        !asked)
      return asked;
    if (sample.end <= sample.begin) {
      ++fetched.without_length;
      continue;
    }
    if (auto read = host_.evaluate(data_, i, metrics_, values_); !read) return read;
    means.add(values_, static_cast<double>(sample.end - sample.begin) * 1e-9);
  }
  return {};
}

}  // namespace rubato::feature::cupti
