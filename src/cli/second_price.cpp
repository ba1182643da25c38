#include "cli/second_price.h"

#include "base/text.h"

namespace rubato::cli {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;
constexpr double kSecondsPerHour = 3600;

}  // namespace

Result<Money> parse_price(std::string_view option, std::string_view text) {
  const std::size_t unit = text.find_first_not_of("0123456789.");
  const auto amount = parse_number(text.substr(0, unit));
  const std::string_view currency =
      unit == std::string_view::npos ? std::string_view() : trim(text.substr(unit));
  if (!amount || *amount < 0 || currency.empty())
    return fail(ErrorCode::invalid_argument, cat(option, " ", text, " is no price"),
                cat("write amount and currency, as in ", option, " 0.30EUR"));
  return Money{*amount, std::string(currency)};
}

Result<std::optional<Watts>> worth_of_second(const SecondPriceText& text, Objective objective) {
  if (text.per_kwh.empty() && text.per_hour.empty()) return std::nullopt;
  if (objective != Objective::cost)
    return fail(ErrorCode::invalid_argument, "prices are for --objective cost alone",
                "add --objective cost, or leave --price and --price-hour out");
  if (text.per_kwh.empty())
    return fail(ErrorCode::invalid_argument,
                "--price-hour says what a second costs, and nothing says what a joule does",
                "add --price, as in --price 0.30EUR for a kilowatt-hour");
  const auto energy = parse_price("--price", text.per_kwh);
  if (!energy) return fail(energy.error());
  if (text.per_hour.empty()) return std::nullopt;
  const auto time = parse_price("--price-hour", text.per_hour);
  if (!time) return fail(time.error());
  if (energy->currency != time->currency)
    return fail(ErrorCode::invalid_argument,
                cat("--price is in ", energy->currency, " and --price-hour in ", time->currency),
                "write both in one currency");
  if (!(energy->per_unit > 0))
    return fail(ErrorCode::invalid_argument, "where energy costs nothing, none is worth a second",
                "write what a kilowatt-hour costs, as in --price 0.30EUR");
  return Watts(time->per_unit / kSecondsPerHour / (energy->per_unit / kJoulesPerKwh));
}

Result<Watts> worth_of_second(double eta, std::optional<Watts> highest_limit) {
  if (!(eta > 0 && eta <= 1))
    return fail(ErrorCode::invalid_argument, cat("--eta ", eta, " is no weight of energy against time"),
                "write one above 0 and at most 1, as in --eta 0.5; 1 is energy alone, and 0 would be time "
                "alone, which nothing shortens: rubato measure");
  if (eta == 1) return Watts(0);
  if (!highest_limit)
    return fail(ErrorCode::unavailable,
                "--eta weighs time by the board's highest power limit, and this one tells none",
                "say what a second is worth in watts: --host-watts");
  return (1 - eta) / eta * *highest_limit;
}

Status add_to_goal(const SecondPriceText& text, Goal& goal) {
  if (text.host_watts) goal.host_watts = Watts(*text.host_watts);
  if (text.idle_watts) goal.idle = Watts(*text.idle_watts);
  const auto second = worth_of_second(text, goal.objective);
  if (!second) return fail(second.error());
  goal.second = *second;
  return {};
}

}  // namespace rubato::cli
