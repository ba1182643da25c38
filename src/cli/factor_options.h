// --co2 and --price: what the user knows of their electricity. Results are computed from them, never
// measured.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "analyse/footprint.h"
#include "base/result.h"

namespace rubato::cli {

struct FactorOptions {
  std::optional<double> co2;
  std::string price;
  std::string region;
  /// invalid_argument: --price is not like 0.30EUR.
  [[nodiscard]] Result<analyse::Factors> factors() const;
};

void add_factor_options(CLI::App& command, FactorOptions& options);

}  // namespace rubato::cli
