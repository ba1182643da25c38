// A check of options beside CLI11's ranges, which let "nan" through: it is neither below an end nor above
// one.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

#include "base/text.h"

namespace rubato::cli {

[[nodiscard]] inline CLI::Validator no_nan() {
  // Without a description: help says nothing more of the option.
  return {[](std::string& text) {
            const auto value = parse_number(text);
            return value && std::isnan(*value) ? cat("Value ", text, " is not a number") : std::string();
          },
          std::string()};
}

}  // namespace rubato::cli
