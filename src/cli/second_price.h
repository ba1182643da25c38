// What a user says a second of the job is worth, beside the joules.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "core/objective.h"

namespace rubato::cli {

struct Money {
  double per_unit = 0;
  std::string currency;
};

/// "0.30EUR". invalid_argument, with the option that says so.
[[nodiscard]] Result<Money> parse_price(std::string_view option, std::string_view text);

/// Exactly as typed; empty or absent: not given.
struct SecondPriceText {
  std::string per_kwh;   // "0.30EUR"
  std::string per_hour;  // of one GPU: "2.40EUR"
  std::optional<double> host_watts;
  std::optional<double> eta;
  std::optional<double> idle_watts;
};

/// Prices with their unit, as joules per second. invalid_argument: no such price, two currencies, a price
/// that the objective has no use for.
[[nodiscard]] Result<std::optional<Watts>> worth_of_second(const SecondPriceText& text, Objective objective);

/// `eta` of Zeus's cost, eta * energy + (1 - eta) * highest power limit * time (You et al., NSDI 2023,
/// section 3.1): what a second is worth at a joule's price. invalid_argument: no weight, or no limit is
/// known.
[[nodiscard]] Result<Watts> worth_of_second(double eta, std::optional<Watts> highest_limit);

/// Into the goal, whose objective is known already: all of it but the weight. Errors as of worth_of_second().
[[nodiscard]] Status add_to_goal(const SecondPriceText& text, Goal& goal);

}  // namespace rubato::cli
