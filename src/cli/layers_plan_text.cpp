#include <cmath>

#include "cli/layers_plan.h"

namespace rubato::cli {
namespace {

constexpr std::size_t kMostPhases = 24;

std::string clocks_text(const predict::Clocks& clocks) {
  return cat("SM ", clocks.sm, ", memory ", clocks.memory);
}

std::string against(double now, double before) {
  const double change = now / before - 1;
  if (std::abs(change) < 5e-6) return "same";
  return cat(change > 0 ? "+" : "", fixed(100 * change, std::abs(change) < 0.00995 ? 2 : 1), " %");
}

void say_phases(Page& page, const PlannedBy& by) {
  if (by.phases.empty()) {
    page.say(cat("No plan to run: ", by.why_no_phases, "."));
    return;
  }
  Table table({{"pass"}, {"SM MHz", true}, {"mem MHz", true}, {"lasts", true}, {"share", true}, {"layers"}});
  for (std::size_t k = 0; k < std::min(by.phases.size(), kMostPhases); ++k) {
    const plan::PlannedPhase& phase = by.phases[k];
    table.add({std::string(name_of(phase.pass)), number(phase.clocks.sm.value(), 1),
               number(phase.clocks.memory.value(), 1), text_of(phase.duration),
               percent(phase.duration / by.plan->time),
               phase.first == phase.last ? phase.first : cat(phase.first, " … ", phase.last)});
  }
  page.table(table);
  if (by.phases.size() > kMostPhases)
    page.say(cat("and ", by.phases.size() - kMostPhases, " phases more; --json has all."));
}

void say_compared(Page& page, const LayersPlanned& planned) {
  Table table({{"strategy"},
               {"ms", true},
               {"J", true},
               {"time", true},
               {"energy", true},
               {"EDP", true},
               {"of single", true},
               {"changes", true}});
  const auto add = [&](const std::string& name, const plan::SegmentCost& cost, const std::string& changes) {
    const plan::SegmentCost& usual = planned.at_default;
    table.add({name, fixed(cost.time.value() * 1e3, 2), fixed(cost.energy.value(), 2),
               against(cost.time.value(), usual.time.value()),
               against(cost.energy.value(), usual.energy.value()),
               against(cost.time.value() * cost.energy.value(), usual.time.value() * usual.energy.value()),
               against(cost.energy.value(), planned.at_single.energy.value()), changes});
  };
  add("default clocks", planned.at_default, "0");
  bool single = false;
  for (const PlannedBy& by : planned.plans) single = single || by.strategy == "single";
  if (!single) add("single", planned.at_single, "0");
  for (const PlannedBy& by : planned.plans)
    if (by.plan) {
      add(by.strategy, {by.plan->time, by.plan->energy}, number(by.plan->changes, 1));
    } else {
      table.add({by.strategy, "-", "-", "-", "-", "-", "-", "-"});
    }
  page.table(table);
  for (const PlannedBy& by : planned.plans)
    if (!by.plan) page.say(cat(by.strategy, ": ", by.why_not, "."));
}

/// What the plan saves board and host, and the host at which its saving over one setting would be gone.
void say_worth(Page& page, const LayersPlanned& planned, const PlannedBy& by) {
  const plan::SegmentPlan& plan = *by.plan;
  page.say(cat(by.strategy, ": ", plan.why, "."));
  const plan::SegmentPlan::Refused& refused = plan.refused;
  if (refused.stretches > 0)
    page.say(cat(refused.stretches,
                 refused.stretches == 1 ? " stretch of layers wants" : " stretches of layers want",
                 " other clocks and ", refused.stretches == 1 ? "is" : "are",
                 " too short for a change: the nearest to paying lasts ", text_of(refused.longest),
                 " and would have to last ", text_of(refused.needed), "."));
  const Joules saved = planned.at_single.energy - plan.energy;
  const Seconds longer = plan.time - planned.at_single.time;
  if (saved > Joules(0) && longer > Seconds(0))
    page.say(cat("Against the best single setting it saves ", fixed(saved.value(), 3), " J and takes ",
                 text_of(longer), " longer an iteration: with a host of ", text_of(saved / longer),
                 " nothing would be left of that."));
}

}  // namespace

void say_layers_plan(Page& page, const LayersPlanned& planned) {
  page.heading(cat("Clocks for ", planned.demands.network, " at batch ", planned.demands.batch));
  page.row("GPU", planned.board);
  page.row("iteration",
           cat(planned.only ? cat(name_of(*planned.only), " pass alone, ") : std::string(),
               name_of(planned.demands.precision), ", ", planned.table.segments.size(), " layers, ",
               planned.table.settings.size(), planned.memory_clocks ? " pairs of clocks" : " SM clocks"));
  page.row("bound", cat("at most ", percent(planned.goal.max_slowdown), " longer than at ",
                        clocks_text(planned.table.settings[planned.table.at_default])));
  page.row("single", clocks_text(planned.table.settings[planned.single]));
  page.row("switching", planned.switching.delay.empty()
                            ? planned.delay_source
                            : cat(text_of(planned.delay), ", ", planned.delay_source));
  if (planned.goal.host > Watts(0)) page.row("host", text_of(planned.goal.host));
  if (planned.plans.size() == 1 && planned.plans.front().plan) {
    page.heading(cat("Phases by strategy ", planned.plans.front().strategy));
    say_phases(page, planned.plans.front());
  }
  page.heading("Of one iteration, modelled");
  say_compared(page, planned);
  page.gap();
  for (const PlannedBy& by : planned.plans)
    if (by.plan && (planned.plans.size() == 1 || by.strategy == "phase")) say_worth(page, planned, by);
  page.say(
      "time, energy, EDP: against the default clocks. Board alone; modelled from published figures of "
      "the board, not measured on it.");
}

}  // namespace rubato::cli
