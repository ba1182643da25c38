#include "cli/power_budget.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "cli/words/units.h"
#include "govern/power_budget/power_budget_strategy.h"

namespace rubato::cli {
namespace {

/// What was typed beside the budget that contradicts it.
std::optional<std::string> rival_of(const GoverningText& text, bool setting_given) {
  if (setting_given) return "a setting of your own";
  if (!text.strategy.empty()) return cat("--strategy ", text.strategy);
  if (!text.objective.empty() && text.objective != name_of(Objective::time))
    return cat("--objective ", text.objective);
  if (!(text.knobs.empty() || text.knobs == std::vector{std::string(name_of(Knob::power_limit))}))
    return "--knobs";
  if (text.second.eta) return "--eta";
  if (!text.second.per_kwh.empty()) return "--price";
  if (!text.second.per_hour.empty()) return "--price-hour";
  if (text.second.host_watts) return "--host-watts";
  if (text.second.idle_watts) return "--idle-watts";
  if (!text.deadline.empty()) return "--deadline";
  return std::nullopt;
}

}  // namespace

Result<Watts> parse_power_budget(const std::string& text) {
  const auto plain = plain_number("W", text);
  const auto watts = parse_number(plain ? *plain : text);
  if (watts && std::isfinite(*watts) && *watts > 0 && *watts < 1e9) return Watts(*watts);
  return fail(ErrorCode::invalid_argument, cat("--power-budget ", text, " is no amount of power"),
              "write it as --power-budget 1200W");
}

Result<Governing> under_power_budget(const GoverningText& text, bool setting_given) {
  const auto budget = parse_power_budget(text.power_budget);
  if (!budget) return fail(budget.error());
  if (!text.max_slowdown.empty())
    return fail(ErrorCode::invalid_argument,
                "--power-budget holds at every moment, and --max-slowdown is judged against the limits that "
                "are found, which are above it",
                "leave one of the two out; the report says how long iterations took");
  if (const auto rival = rival_of(text, setting_given))
    return fail(ErrorCode::invalid_argument,
                cat("--power-budget divides watts so that the job loses the least time, and ", *rival,
                    " asks for something else"),
                "leave one of the two out");
  return Governing{.strategy = std::string(govern::kPowerBudget),
                   .goal = {.objective = Objective::time, .max_slowdown = 0, .power_budget = *budget},
                   .eta = {},
                   .knobs = {Knob::power_limit},
                   .time_left = {},
                   .memory = false};
}

Result<BudgetRange> budget_range(const std::vector<std::unique_ptr<device::Gpu>>& gpus,
                                 bool more_rights_than_us) {
  BudgetRange out;
  for (const auto& gpu : gpus) {
    const auto& id = gpu->identity();
    const Capability& can = gpu->capabilities().set_power_limit;
    if (!can.available && !(can.needs_right && more_rights_than_us))
      return fail(can.needs_right ? ErrorCode::no_permission : ErrorCode::not_supported,
                  cat(id.id.uuid, " (", id.name, "): cannot set the power limit: ", can.why_not), can.hint);
    const auto limits = gpu->power_limits();
    if (!limits) return fail(limits.error());
    out.least += std::min(limits->min, limits->requested);
    out.found += limits->requested;
    out.of_each += cat(out.of_each.empty() ? "" : ", ", id.id.uuid, " ", number(limits->min.value(), 1),
                       " to ", limits->max, " (", limits->requested, " now)");
  }
  return out;
}

Status budget_fits(Watts budget, const BudgetRange& range) {
  if (budget >= range.least) return {};
  return fail(ErrorCode::invalid_argument,
              cat("--power-budget ", budget, " is below ", range.least,
                  ", the sum of the least limits of these GPUs: ", range.of_each),
              cat("allow at least --power-budget ", number(std::ceil(range.least.value()), 0),
                  "W, or name with --gpu only those the job uses"));
}

}  // namespace rubato::cli
