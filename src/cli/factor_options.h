// --co2 and --price: what the user knows of their electricity. Results are computed from them, never
// measured.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "analyse/footprint.h"
#include "base/result.h"
#include "cli/second_price.h"

namespace rubato::cli {

struct FactorOptions {
  std::optional<double> co2;
  std::string price;
  std::string region;
  /// invalid_argument: --price is not like 0.30EUR.
  [[nodiscard]] Result<analyse::Factors> factors() const;
};

/// --price, --price-hour, --host-watts and --idle-watts.
void add_second_price(CLI::App& command, SecondPriceText& text);

void add_factor_options(CLI::App& command, FactorOptions& options);

}  // namespace rubato::cli
