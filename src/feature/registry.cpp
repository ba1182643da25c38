// Every provider, best first: what disturbs nobody and costs least, of those that count; then the rest. CUPTI
// starts CUDA in this process and keeps other profilers out: only who names it gets it.
#include <vector>

#include "base/text.h"
#include "feature/accompanied.h"
#include "feature/cupti/cupti.h"
#include "feature/dcgm/dcgm.h"
#include "feature/gpu_counters/gpu_counters.h"
#include "feature/provider.h"
#include "feature/utilisation/utilisation.h"

namespace rubato::feature {
namespace {

template <ProviderKind (*Kind)()>
ProviderKind accompanied() {
  return {Kind().facts, [](device::Gpu& gpu) { return accompany(Kind().open(gpu), gpu); }};
}

ProviderKind only_by_name(ProviderKind kind) {
  kind.only_by_name = true;
  return kind;
}

}  // namespace

std::span<const ProviderKind> provider_kinds() {
  static const std::vector<ProviderKind> kKinds = {
      accompanied<gpu_counters::gpm_kind>(), accompanied<gpu_counters::simulated_kind>(),
      accompanied<dcgm::kind>(), only_by_name(accompanied<cupti::kind>()), utilisation::kind()};
  return kKinds;
}

Result<std::unique_ptr<Provider>> open_provider(std::string_view name, device::Gpu& gpu) {
  std::string names = "auto";
  std::string reasons;
  for (const ProviderKind& kind : provider_kinds()) {
    names += cat(", ", kind.facts.name);
    if (name == kind.facts.name) return kind.open(gpu);
    if (name != "auto") continue;
    std::string why_not = "only where it is named";
    if (!kind.only_by_name) {
      auto provider = kind.open(gpu);
      if (provider->availability().available) return provider;
      why_not = provider->availability().why_not;
    }
    reasons += cat(reasons.empty() ? "" : "; ", kind.facts.name, ": ", why_not);
  }
  if (name != "auto")
    return fail(ErrorCode::invalid_argument, cat("there are no counters named '", name, "'"),
                cat("one of: ", names));
  return fail(
      ErrorCode::not_supported,
      cat("nothing counts what ", gpu.identity().id.uuid, " (", gpu.identity().name, ") does: ", reasons),
      "'rubato doctor' says what would help");
}

}  // namespace rubato::feature
