// `rubato run --power-budget 1200W`: what may stand beside it, whether the GPUs can be held to it, and who
// divides it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/governing.h"
#include "core/setting.h"
#include "device/gpu.h"

namespace rubato::cli {

/// "1200W", "1.2kW" or "1200". invalid_argument.
[[nodiscard]] Result<Watts> parse_power_budget(const std::string& text);

/// invalid_argument: no budget, or an option beside it that sets, searches or bounds something else.
[[nodiscard]] Result<Governing> under_power_budget(const GoverningText& text, bool setting_given);

/// What the limits of these GPUs can come to together.
struct BudgetRange {
  Watts least;
  Watts found;
  std::string of_each;  // "100 to 250 W (200 W now) on GPU-…": one after the other
};

/// not_supported or no_permission where a limit cannot be read or set on one of them.
[[nodiscard]] Result<BudgetRange> budget_range(const std::vector<std::unique_ptr<device::Gpu>>& gpus,
                                               bool more_rights_than_us);

/// invalid_argument, with the figures: below what these GPUs can be held to.
[[nodiscard]] Status budget_fits(Watts budget, const BudgetRange& range);

}  // namespace rubato::cli
