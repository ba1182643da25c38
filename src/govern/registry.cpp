#include "govern/registry.h"

#include <array>

#include "base/text.h"
#include "govern/fixed_strategy.h"
#include "govern/measure_only_strategy.h"

namespace rubato::govern {
namespace {

Result<std::unique_ptr<Strategy>> make_fixed(const StrategyRequest& request) {
  if (request.wanted.empty()) {
    return fail(ErrorCode::invalid_argument,
                "strategy fixed: no setting was given; it needs a limit or a clock",
                "rubato run --power-limit W -- CMD");
  }
  return std::make_unique<FixedStrategy>(FixedOptions{request.wanted, request.found_clock_stated},
                                         Random(request.seed));
}

Result<std::unique_ptr<Strategy>> make_measure_only(const StrategyRequest& request) {
  return std::make_unique<MeasureOnlyStrategy>(request.reason);
}

constexpr std::array kStrategies = {
    StrategyEntry{"fixed", "the setting given on the command line, with a baseline and control blocks",
                  make_fixed},
    StrategyEntry{"measure-only", "changes nothing", make_measure_only},
};

}  // namespace

std::span<const StrategyEntry> strategies() {
  return kStrategies;
}

Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const StrategyRequest& request) {
  std::string known;
  for (const StrategyEntry& entry : kStrategies) {
    if (entry.name == name) return entry.make(request);
    known += cat(known.empty() ? "" : ", ", entry.name);
  }
  return fail(ErrorCode::not_found, cat("there is no strategy '", name, "'; there are: ", known));
}

}  // namespace rubato::govern
