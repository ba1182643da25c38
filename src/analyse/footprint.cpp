#include "analyse/footprint.h"

#include "base/text.h"

namespace rubato::analyse {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;

std::string words_of(const Co2Factor& factor) {
  std::string where;
  for (const std::string* part : {&factor.source, &factor.year, &factor.region})
    if (!part->empty()) where += cat(where.empty() ? "" : ", ", *part);
  return cat(number(factor.grams_per_kwh, 3), " g/kWh (", where.empty() ? "as you state it" : where, ")");
}

}  // namespace

Footprint footprint_of(Joules energy, const Factors& factors) {
  Footprint f;
  f.kwh = energy.value() / kJoulesPerKwh;
  std::string from;
  if (factors.co2) {
    f.co2_grams = f.kwh * factors.co2->grams_per_kwh;
    from = words_of(*factors.co2);
  }
  if (factors.price) {
    f.cost = f.kwh * factors.price->per_kwh;
    from += cat(from.empty() ? "" : " and ", number(factors.price->per_kwh, 4), " ", factors.price->currency,
                "/kWh");
  }
  if (!from.empty()) f.basis = cat("computed from ", from, ", not measured");
  return f;
}

}  // namespace rubato::analyse
