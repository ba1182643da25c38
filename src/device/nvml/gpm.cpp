#include "device/nvml/gpm.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "device/nvml/probe.h"

namespace rubato::device::nvml {
namespace {

/// NVML API reference, nvmlGpmSampleGet: samples should lie further apart.
constexpr Seconds kRefresh{0.1};

constexpr double kOfPercent = 0.01;
constexpr double kOfMebibytes = 1024.0 * 1024.0;

struct Row {
  unsigned id;
  Feature feature;
  double scale;
};
constexpr std::array kRows = {Row{abi::kGpmSmActive, Feature::sm_active, kOfPercent},
                              Row{abi::kGpmSmOccupancy, Feature::sm_occupancy, kOfPercent},
                              Row{abi::kGpmTensor, Feature::tensor_active, kOfPercent},
                              Row{abi::kGpmFp64, Feature::fp64_active, kOfPercent},
                              Row{abi::kGpmFp32, Feature::fp32_active, kOfPercent},
                              Row{abi::kGpmFp16, Feature::fp16_active, kOfPercent},
                              Row{abi::kGpmInteger, Feature::integer_active, kOfPercent},
                              Row{abi::kGpmDram, Feature::dram_active, kOfPercent},
                              Row{abi::kGpmPcieTx, Feature::pcie_tx_bytes_per_s, kOfMebibytes},
                              Row{abi::kGpmPcieRx, Feature::pcie_rx_bytes_per_s, kOfMebibytes},
                              Row{abi::kGpmNvlinkTx, Feature::nvlink_tx_bytes_per_s, kOfMebibytes},
                              Row{abi::kGpmNvlinkRx, Feature::nvlink_rx_bytes_per_s, kOfMebibytes}};

/// A percentage may be rounded beyond the whole; what is no number, or negative, was not counted.
std::optional<double> plausible(const abi::GpmMetric& metric, double scale) {
  if (metric.result != abi::kSuccess || !std::isfinite(metric.value) || metric.value < 0) return std::nullopt;
  const double value = metric.value * scale;
  return scale == kOfPercent ? std::min(value, 1.0) : value;
}

}  // namespace

GpmSample::~GpmSample() {
  if (sample_ != nullptr) library_->nvml().gpm_free(sample_);
}

abi::Return GpmSample::take(DeviceCalls& calls) {
  if (sample_ == nullptr) {
    const abi::Return code = calls.call_library(calls.nvml().gpm_alloc, &sample_);
    if (code != abi::kSuccess) {
      sample_ = nullptr;
      return code;
    }
  }
  return calls.call(calls.nvml().gpm_take, sample_);
}

GpmReader::GpmReader(std::shared_ptr<const Library> library)
    : earlier_(std::make_unique<GpmSample>(library)),
      later_(std::make_unique<GpmSample>(std::move(library))),
      request_(std::make_unique<abi::GpmMetricsGet>()) {}

Answer<FeatureVector> GpmReader::read(DeviceCalls& calls, const Clock& clock) {
  Answer<FeatureVector> out;
  const TimePoint asked = clock.now();
  out.code = later_->take(calls);
  const TimePoint answered = clock.now();
  if (!out.ok()) {
    taken_.reset();
    return out;
  }
  const TimePoint now{asked.ns + (answered.ns - asked.ns) / 2};
  const bool same_life = life_ == calls.found_again();
  out.value.end = now;
  out.value.begin = taken_ && same_life ? *taken_ : now;
  if (out.value.end - out.value.begin > kRefresh) out.code = compute(calls, out.value);
  std::swap(earlier_, later_);
  taken_ = now;
  life_ = calls.found_again();
  return out;
}

abi::Return GpmReader::compute(DeviceCalls& calls, FeatureVector& features) {
  *request_ = {};
  request_->version = abi::kGpmMetricsGetVersion;
  request_->count = static_cast<unsigned>(kRows.size());
  request_->earlier = earlier_->get();
  request_->later = later_->get();
  for (std::size_t i = 0; i < kRows.size(); ++i) request_->metrics[i].id = kRows.at(i).id;
  const abi::Return code = calls.call_library(calls.nvml().gpm_metrics, request_.get());
  if (code != abi::kSuccess) return code;
  for (std::size_t i = 0; i < kRows.size(); ++i)
    features[kRows.at(i).feature] = plausible(request_->metrics[i], kRows.at(i).scale);
  return code;
}

/// Supported and permitted are two things: only a sample tells of both.
Capability probe_detail::probe_counters(DeviceCalls& calls) {
  const Functions& nvml = calls.nvml();
  unsigned current = 0;
  unsigned pending = 0;
  if (calls.call(nvml.mig_mode, &current, &pending) == abi::kSuccess && current != 0)
    return Capability::no("MIG is on, and each instance has counters of its own",
                          "'nvidia-smi -mig 0' turns it off");
  abi::GpmSupport support{.version = abi::kGpmSupportVersion, .supported = 0};
  if (const abi::Return code = calls.call(nvml.gpm_support, &support); code != abi::kSuccess)
    return readable(code, nvml.gpm_support.name());
  if (support.supported == 0)
    return Capability::no("the driver reads the performance monitors (GPM) of Hopper and newer only");
  for (const bool there : {nvml.gpm_alloc.exists(), nvml.gpm_free.exists(), nvml.gpm_metrics.exists()})
    if (!there) return readable(abi::kFunctionNotFound, nvml.gpm_metrics.name());
  GpmSample sample(calls.library());
  const abi::Return code = sample.take(calls);
  if (code == abi::kNoPermission)
    return Capability::forbidden(cat(nvml.gpm_take.name(), " answers NVML_ERROR_NO_PERMISSION"),
                                 std::string(kCounterRight));
  return readable(code, nvml.gpm_take.name());
}

}  // namespace rubato::device::nvml
