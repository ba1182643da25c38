#include "feature/cupti/host.h"

#include <optional>

#include "base/text.h"

namespace rubato::feature::cupti {
namespace {

/// The sampler's configuration for these metrics, or nothing where the chip lacks one of them or needs more
/// than one pass.
std::optional<std::vector<std::uint8_t>> one_pass(Api& api, const Plan& plan,
                                                  std::span<const Counted> counted) {
  auto host = Host::open(api, plan.chip, plan.availability);
  if (!host) return std::nullopt;
  if (!host->add(metrics_of(counted))) return std::nullopt;
  auto config = host->config();
  if (!config) return std::nullopt;
  const auto passes = host->passes(*config);
  if (!passes || *passes != 1) return std::nullopt;
  return std::move(*config);
}

}  // namespace

Result<std::vector<std::string>> supported_chips(Api& api) {
  abi::SupportedChips chips;
  if (auto asked = api(&abi::Calls::host_chips, "cuptiProfilerHostGetSupportedChips", chips); !asked)
    return fail(asked.error());
  return std::vector<std::string>(chips.names, chips.names + chips.count);
}

Result<Plan> make_plan(Api& api, std::string chip, std::vector<std::uint8_t> availability) {
  Plan plan{.chip = std::move(chip), .availability = std::move(availability)};
  if (auto host = Host::open(api, plan.chip, plan.availability); !host) return fail(host.error());
  for (const Wanted& one : wanted()) {
    for (const Way& way : one.ways) {
      plan.counted.push_back({one.quantity, one.scale, way});
      if (auto config = one_pass(api, plan, plan.counted)) {
        plan.config = std::move(*config);
        break;
      }
      plan.counted.pop_back();
    }
  }
  if (plan.counted.empty())
    return fail(ErrorCode::not_supported, cat(api.path(), " counts nothing of use on chip ", plan.chip));
  return plan;
}

Result<Host> Host::open(Api& api, const std::string& chip, std::span<const std::uint8_t> availability) {
  abi::HostInitialize init;
  init.chip = chip.c_str();
  init.availability = availability.empty() ? nullptr : availability.data();
  if (auto asked = api(&abi::Calls::host_initialize, "cuptiProfilerHostInitialize", init); !asked)
    return fail(asked.error());
  return Host(api, init.host);
}

Host::~Host() {
  if (host_ == nullptr) return;
  abi::OnHost params;
  params.host = host_;
  static_cast<void>(api_->ask(&abi::Calls::host_deinitialize, params));
}

Status Host::add(std::span<const char* const> metrics) {
  std::vector<const char*> names(metrics.begin(), metrics.end());
  abi::AddMetrics params;
  params.host = host_;
  params.names = names.data();
  params.count = names.size();
  return (*api_)(&abi::Calls::host_add_metrics, "cuptiProfilerHostConfigAddMetrics", params);
}

Result<std::vector<std::uint8_t>> Host::config() {
  abi::ConfigSize size;
  size.host = host_;
  if (auto asked = (*api_)(&abi::Calls::host_config_size, "cuptiProfilerHostGetConfigImageSize", size);
      !asked)
    return fail(asked.error());
  std::vector<std::uint8_t> config(size.bytes);
  abi::GetConfig params;
  params.host = host_;
  params.bytes = config.size();
  params.config = config.data();
  if (auto asked = (*api_)(&abi::Calls::host_config, "cuptiProfilerHostGetConfigImage", params); !asked)
    return fail(asked.error());
  return config;
}

Result<std::size_t> Host::passes(std::vector<std::uint8_t>& config) {
  abi::Passes params;
  params.bytes = config.size();
  params.config = config.data();
  if (auto asked = (*api_)(&abi::Calls::host_passes, "cuptiProfilerHostGetNumOfPasses", params); !asked)
    return fail(asked.error());
  return params.passes;
}

Status Host::evaluate(std::span<const std::uint8_t> data, std::size_t sample,
                      std::vector<const char*>& metrics, std::vector<double>& values) {
  values.assign(metrics.size(), 0);
  abi::Evaluate params;
  params.host = host_;
  params.data = data.data();
  params.bytes = data.size();
  params.sample = sample;
  params.names = metrics.data();
  params.count = metrics.size();
  params.values = values.data();
  return (*api_)(&abi::Calls::host_evaluate, "cuptiProfilerHostEvaluateToGpuValues", params);
}

}  // namespace rubato::feature::cupti
