#include "layer_study/break_even.h"

#include <cmath>

namespace rubato::layer_study {
namespace {

bool pays(const std::optional<double>& gain) {
  return gain && *gain >= kWorthIt;
}

}  // namespace

std::optional<double> gain_at(const Study& study, const plan::LayerStrategy& strategy, Seconds delay) {
  const plan::Switching switching = delay > Seconds(0) ? study.switching(delay) : plan::Switching{};
  const auto outcome = outcome_of(strategy, study.table, switching, study.goal);
  const auto single = outcome_of(**plan::find_layer_strategy("single"), study.table, switching, study.goal);
  if (!outcome || !single) return std::nullopt;
  const std::vector<std::size_t> at_default(study.table.segments.size(), study.table.at_default);
  const Seconds most = plan::cost_of(study.table, {}, at_default).time * (1 + study.goal.max_slowdown + 1e-9);
  if (outcome->cost.time > most) return std::nullopt;
  return saved(outcome->cost.energy, single->cost.energy);
}

BreakEven break_even(const Study& study, const plan::LayerStrategy& strategy,
                     std::span<const Seconds> delays) {
  BreakEven out;
  for (const Seconds delay : delays) out.gains.push_back(gain_at(study, strategy, delay));
  out.ever = pays(out.gains.front());
  if (!out.ever) return out;
  for (std::size_t i = 1; i < delays.size(); ++i) {
    if (pays(out.gains[i])) continue;
    if (i == 1) {  // below the first delay looked at
      out.delay = delays[1];
      return out;
    }
    double low = delays[i - 1].value();
    double high = delays[i].value();
    while (high / low > 1.2) {
      const double middle = std::sqrt(low * high);
      (pays(gain_at(study, strategy, Seconds(middle))) ? low : high) = middle;
    }
    out.delay = Seconds(std::sqrt(low * high));
    return out;
  }
  return out;
}

}  // namespace rubato::layer_study
