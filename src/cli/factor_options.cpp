#include "cli/factor_options.h"

#include "cli/no_nan.h"

namespace rubato::cli {

Result<analyse::Factors> FactorOptions::factors() const {
  analyse::Factors factors;
  if (co2) factors.co2 = {.grams_per_kwh = *co2, .source = "--co2", .year = {}, .region = region};
  if (!price.empty()) {
    auto parsed = parse_price("--price", price);
    if (!parsed) return fail(parsed.error());
    factors.price = analyse::Price{parsed->per_unit, std::move(parsed->currency)};
  }
  return factors;
}

void add_factor_options(CLI::App& command, FactorOptions& options) {
  command.add_option("--co2", options.co2, "grams of CO2 per kWh of your electricity")
      ->type_name("G_PER_KWH")
      ->check(CLI::NonNegativeNumber)
      ->check(no_nan());
  command.add_option("--price", options.price, "what a kWh costs you, as in 0.30EUR")->type_name("PRICE");
  command.add_option("--region", options.region, "where that electricity is used, in your words")
      ->type_name("TEXT");
}

void add_second_price(CLI::App& command, SecondPriceText& text) {
  command.add_option("--price", text.per_kwh, "with --objective cost: what a kWh costs, as in 0.30EUR")
      ->type_name("PRICE");
  command
      .add_option("--price-hour", text.per_hour,
                  "with --objective cost: what an hour of one GPU costs, as in 2.40EUR")
      ->type_name("PRICE");
  command
      .add_option("--host-watts", text.host_watts,
                  "what the rest of the machine draws per GPU while the job runs")
      ->type_name("W")
      ->check(CLI::PositiveNumber)
      ->check(no_nan());
  command
      .add_option("--idle-watts", text.idle_watts,
                  "what each board draws without the job: only what the job adds is to become small")
      ->type_name("W")
      ->check(CLI::PositiveNumber)
      ->check(no_nan());
}

}  // namespace rubato::cli
