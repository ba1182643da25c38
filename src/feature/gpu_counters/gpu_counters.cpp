#include "feature/gpu_counters/gpu_counters.h"

#include <array>

#include "base/text.h"

namespace rubato::feature::gpu_counters {
namespace {

constexpr ProviderFacts kGpm = {
    .name = "gpm",
    .says = "the GPU performance monitors that NVML reads on Hopper and newer, all of them at once",
    .rights = "none that NVML's reference asks for; one sample is taken to see",
    .costs =
        "a driver call when a window begins and two when it ends, none between; not yet measured on "
        "hardware",
    .disturbs = "nobody known: no kernel is replayed or held up (with DCGM beside it sources disagree)"};

constexpr ProviderFacts kSimulated = {.name = "simulated",
                                      .says = "what the simulated GPU's physics knows of its work",
                                      .rights = "none",
                                      .costs = "one call at each end of a window",
                                      .disturbs = "nobody"};

constexpr std::array kGpmFeatures = {
    Feature::sm_active,           Feature::sm_occupancy,          Feature::tensor_active,
    Feature::fp64_active,         Feature::fp32_active,           Feature::fp16_active,
    Feature::integer_active,      Feature::dram_active,           Feature::pcie_tx_bytes_per_s,
    Feature::pcie_rx_bytes_per_s, Feature::nvlink_tx_bytes_per_s, Feature::nvlink_rx_bytes_per_s};
// Which pipe computes, and what crosses PCIe or NVLink, no simulated workload says.
constexpr std::array kSimulatedFeatures = {Feature::sm_active, Feature::dram_active};

Capability availability_of(const device::Gpu& gpu, bool wants_simulated) {
  if (gpu.kind() == Kind::measured && wants_simulated)
    return Capability::no("this GPU is hardware, and nothing is simulated on it");
  if (gpu.kind() == Kind::modelled && !wants_simulated)
    return Capability::no("this GPU is simulated, and so are its counters", "'simulated' reads them");
  return gpu.capabilities().read_counters;
}

class CountersProvider final : public Provider {
 public:
  CountersProvider(device::Gpu& gpu, const ProviderFacts& facts, std::span<const Feature> counted,
                   bool wants_simulated)
      : gpu_(gpu),
        facts_(facts),
        availability_(availability_of(gpu, wants_simulated)),
        features_(availability_.available ? counted : std::span<const Feature>()) {}

  const ProviderFacts& facts() const override { return facts_; }
  const Capability& availability() const override { return availability_; }
  std::span<const Feature> features() const override { return features_; }
  CallCost cost() const override { return cost_; }

  Status begin(TimePoint) override {
    if (!availability_.available)
      return fail(ErrorCode::not_supported, said(availability_.why_not), availability_.hint);
    if (open_) return fail(ErrorCode::busy, said("a window is open already"));
    const auto start = read();
    if (!start) return fail(start.error());
    open_ = true;
    return {};
  }

  Result<FeatureVector> end(TimePoint) override {
    if (!open_) return fail(ErrorCode::conflict, said("no window is open"));
    open_ = false;
    Result<FeatureVector> counted = read();
    if (!counted) return counted;
    bool any = false;
    for (const auto& value : counted->values) any = any || value.has_value();
    if (!any)
      return fail(ErrorCode::unavailable, said(cat("the window of ", counted->end - counted->begin,
                                                   " was too short for one update of the counters")));
    return counted;
  }

 private:
  [[nodiscard]] std::string said(std::string_view what) const {
    return cat(facts_.name, " counters of ", gpu_.identity().id.uuid, " (", gpu_.identity().name,
               "): ", what);
  }
  /// Everything else that is read through the same GPU is not this provider's cost.
  Result<FeatureVector> read() {
    const CallCost before = gpu_.cost();
    auto out = gpu_.read_counters();
    const CallCost after = gpu_.cost();
    cost_.calls += after.calls - before.calls;
    cost_.inside += after.inside - before.inside;
    return out;
  }

  device::Gpu& gpu_;
  const ProviderFacts& facts_;
  Capability availability_;
  std::span<const Feature> features_;
  CallCost cost_;
  bool open_ = false;
};

}  // namespace

ProviderKind gpm_kind() {
  return {kGpm, [](device::Gpu& gpu) -> std::unique_ptr<Provider> {
            return std::make_unique<CountersProvider>(gpu, kGpm, kGpmFeatures, false);
          }};
}

ProviderKind simulated_kind() {
  return {kSimulated, [](device::Gpu& gpu) -> std::unique_ptr<Provider> {
            return std::make_unique<CountersProvider>(gpu, kSimulated, kSimulatedFeatures, true);
          }};
}

}  // namespace rubato::feature::gpu_counters
