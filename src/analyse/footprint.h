// Money and CO2 from factors somebody states. They are computed, never measured, and no factor is built in: a
// grid's differs by hour and place, and only the user knows the contract.
#pragma once

#include <optional>
#include <string>

#include "base/units.h"

namespace rubato::analyse {

/// A factor with where, when and by whom it was found; what is not known is empty.
struct Co2Factor {
  double grams_per_kwh = 0;
  std::string source;
  std::string year;
  std::string region;
};

struct Price {
  double per_kwh = 0;
  std::string currency;
};

struct Factors {
  std::optional<Co2Factor> co2;
  std::optional<Price> price;
  [[nodiscard]] bool any() const { return co2 || price; }
};

struct Footprint {
  double kwh = 0;
  std::optional<double> co2_grams;
  std::optional<double> cost;
  std::string basis;  // "computed from 380 g/kWh (…) and 0.30 EUR/kWh, not measured"
};

[[nodiscard]] Footprint footprint_of(Joules energy, const Factors& factors);

}  // namespace rubato::analyse
