#include "plan/choice.h"

#include <cmath>

#include "base/percent.h"
#include "base/text.h"
#include "plan/belief.h"
#include "plan/setting_of.h"

namespace rubato::plan {
namespace {

std::string saving_of(const Expected& objective) {
  return cat(short_percent(1 - objective.median), " (", short_percent(1 - objective.high), " to ",
             short_percent(1 - objective.low), ")");
}

struct Candidate {
  std::size_t setting = 0;
  double saving = 0;  // expected, without the bound
  double holds = 1;
  double worth = 0;  // expected, nothing where the bound breaks
};

Choice describe_choice(const predict::Prediction& believed, const ObjectiveRatio& ratio, std::size_t i) {
  const Belief belief = belief_at(believed, i);
  Choice out;
  out.setting = i;
  out.time = expected_of(belief.time, belief.time_variance);
  out.energy = expected_of(belief.energy, belief.energy_variance);
  out.objective = ratio.interval(belief);
  return out;
}

Choice stay(std::string why) {
  const Expected same{1, 1, 1};
  return {std::nullopt, 1, same, same, same, std::move(why)};
}

}  // namespace

Choice choose(const predict::Prediction& believed, const Goal& goal, Watts board_at_default, bool bounded,
              const Caution& caution) {
  const ObjectiveRatio ratio(goal, board_at_default);
  const double log_bound = std::log1p(goal.max_slowdown);
  const std::string_view objective = name_of(goal.objective);
  std::optional<Candidate> best;
  std::optional<Candidate> refused;  // the best of those that caution or the default's own objective rule out
  for (std::size_t i = 0; i < believed.size(); ++i) {
    const Belief belief = belief_at(believed, i);
    Candidate candidate{i, 1 - ratio.mean(belief), 1, 0};
    candidate.worth = candidate.saving;
    if (bounded) {
      candidate.holds = probability_inside(belief, log_bound);
      candidate.worth = ratio.saving_inside(belief, log_bound);
    }
    const bool worth_it = candidate.saving > 0 && candidate.saving >= caution.least_saving &&
                          candidate.worth > 0 && candidate.holds >= caution.confidence;
    auto& place = worth_it ? best : refused;
    if (!place || candidate.worth > place->worth) place = candidate;
  }
  if (!best && !refused) return stay("there is no other setting to choose from");
  const Candidate& told = best ? *best : *refused;
  Choice out = describe_choice(believed, ratio, told.setting);
  const std::string at = describe(setting_of(believed.at[told.setting]));
  const std::string inside = bounded ? cat(", inside ", short_percent(goal.max_slowdown),
                                           " slower with probability ", short_percent(told.holds))
                                     : std::string();
  if (!best) {
    // The default itself may be among the candidates, and the best of them.
    if (told.saving == 0) return stay(cat("no setting lowers ", objective, " below the default's"));
    return stay(cat("no saving worth the risk: ", at, ", the best there is, would save ",
                    saving_of(out.objective), " of ", objective, inside));
  }
  out.holds = told.holds;
  out.why = cat(at, " saves ", saving_of(out.objective), " of ", objective, inside);
  return out;
}

}  // namespace rubato::plan
