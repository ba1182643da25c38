#include "cli/factor_options.h"

#include "base/text.h"

namespace rubato::cli {
namespace {

Result<analyse::Price> parse_price(std::string_view text) {
  const std::size_t unit = text.find_first_not_of("0123456789.");
  const auto amount = parse_number(text.substr(0, unit));
  const std::string_view currency =
      unit == std::string_view::npos ? std::string_view() : trim(text.substr(unit));
  if (!amount || *amount < 0 || currency.empty())
    return fail(ErrorCode::invalid_argument, cat("--price ", text, " is no price of a kilowatt-hour"),
                "write it as in --price 0.30EUR");
  return analyse::Price{*amount, std::string(currency)};
}

}  // namespace

Result<analyse::Factors> FactorOptions::factors() const {
  analyse::Factors factors;
  if (co2) factors.co2 = {.grams_per_kwh = *co2, .source = "--co2", .year = {}, .region = region};
  if (!price.empty()) {
    auto parsed = parse_price(price);
    if (!parsed) return fail(parsed.error());
    factors.price = std::move(*parsed);
  }
  return factors;
}

void add_factor_options(CLI::App& command, FactorOptions& options) {
  command.add_option("--co2", options.co2, "grams of CO2 per kWh of your electricity")
      ->type_name("G_PER_KWH")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--price", options.price, "what a kWh costs you, as in 0.30EUR")->type_name("PRICE");
  command.add_option("--region", options.region, "where that electricity is used, in your words")
      ->type_name("TEXT");
}

}  // namespace rubato::cli
