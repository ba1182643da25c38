// Every strategy there is, by name.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/setting.h"
#include "govern/strategy.h"

namespace rubato::govern {

/// What a strategy may be told when it is made; each takes what it needs.
struct StrategyRequest {
  Setting wanted;                   // fixed
  bool found_clock_stated = false;  // fixed: the user gave --found-sm-clock
  std::string reason;               // measure-only: why nothing is changed
  std::uint64_t seed = 0;
};

struct StrategyEntry {
  std::string_view name;
  std::string_view description;
  Result<std::unique_ptr<Strategy>> (*make)(const StrategyRequest& request);
};

[[nodiscard]] std::span<const StrategyEntry> strategies();

/// Errors: not_found naming what there is; invalid_argument where the request lacks what the strategy needs.
[[nodiscard]] Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name,
                                                              const StrategyRequest& request);

}  // namespace rubato::govern
