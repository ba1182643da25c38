#include "cli/run_strategy.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cli/advise_model.h"
#include "cli/learned.h"
#include "cli/place.h"
#include "conduct/clock_gate.h"
#include "govern/measure_only_strategy.h"
#include "govern/power_budget/power_budget_strategy.h"
#include "govern/registry.h"

namespace rubato::cli {
namespace {

/// Other people's strategies know fewer knobs, and as published they hold nothing of what this run is asked
/// for.
std::string choice_of(std::string_view strategy, const std::string& knobs, const Goal& goal) {
  if (strategy.starts_with(kOwnStrategy)) return cat(knobs, " for ", describe(goal));
  const std::string known = cat(knobs, ", as far as it knows of these, by its own rule");
  return strategy.ends_with("@published") ? cat(known, " and without this run's bound")
                                          : cat(known, " for ", describe(goal));
}

MeasureOnly nothing_asked() {
  return {Error{ErrorCode::unavailable, "measuring only, as asked: nothing is changed", {}}, true};
}

std::string to_be_set(const Asked& asked, const Judged& judged) {
  if (asked.plan) return describe(*asked.plan);
  if (!asked.governing) return describe(asked.wanted.setting);
  if (judged.budget) return cat("the power limits of ", judged.budget->of_each);
  return judged.space ? conduct::describe(judged.space->space) : std::string("a setting");
}

/// The clocks and limits that may be searched, or why there are none; the machine says more about rights than
/// the driver does.
Status find_space(Judged& out, const Asked& asked, const OpenGpus& open, const GuardedRun& guarded) {
  auto space = conduct::run_space(open.gpus, {.knobs = asked.governing->knobs,
                                              .in_step = asked.place.has_value(),
                                              .more_rights_than_us = guarded.more_rights_than_us,
                                              .found_sm_clock = out.wanted.found_sm_clock});
  if (space) {
    for (const std::string& note : space->notes) out.wanted.notes.push_back(note);
    out.wanted.knobs = space->knobs;
    out.space = std::move(*space);
    return {};
  }
  Error error = space.error();
  const Place here = place(FsRoot{}, environment_map());
  if (error.code == ErrorCode::no_permission && open.selection.backend->name() == "nvml" &&
      here.right != Right::here)
    error = missing_right_here(here);
  if (error.code == ErrorCode::no_permission) error.what = cat("nothing may be set here: ", error.what);
  return fail(std::move(error));
}

/// Whether the budget can be held, or why nothing has to be set for it. A budget below what is possible is
/// wrong in the command.
Status find_budget(Judged& out, const Governing& governing, const OpenGpus& open, const GuardedRun& guarded) {
  auto range = budget_range(open.gpus, guarded.more_rights_than_us);
  if (!range) return fail(range.error());
  out.fits = budget_fits(*governing.goal.power_budget, *range);
  out.wanted.knobs = governing.knobs;
  out.budget = std::move(*range);
  return out.fits;
}

/// What was typed, with what only the board can tell.
Result<Goal> goal_here(const Governing& governing, const OpenGpus& open) {
  Goal goal = governing.goal;
  if (!governing.eta) return goal;
  std::optional<Watts> highest;
  if (!open.gpus.empty())
    if (const auto limits = open.gpus.front()->power_limits()) highest = limits->max;
  const auto second = worth_of_second(*governing.eta, highest);
  if (!second) return fail(second.error());
  goal.second = *second;
  return goal;
}

MeasureOnly why_measure_only(const RunOptions& options, const Asked& asked, const Judged& judged,
                             const OpenGpus& open, const GuardedRun& guarded) {
  if (judged.budget && judged.budget->found <= *asked.governing->goal.power_budget)
    return {Error{ErrorCode::unavailable,
                  cat("the power limits that were found come to ", judged.budget->found,
                      ", which is inside the budget of ", *asked.governing->goal.power_budget,
                      ": nothing has to be lowered"),
                  {}},
            true};
  if (options.dry_run) {
    const std::string what =
        judged.budget
            ? cat("would divide ", *asked.governing->goal.power_budget, " among ", to_be_set(asked, judged),
                  ", evenly at first, for ", describe(asked.governing->goal))
        : asked.governing ? cat("would let ", asked.governing->strategy, " choose among ",
                                choice_of(asked.governing->strategy, to_be_set(asked, judged),
                                          goal_here(*asked.governing, open).value_or(asked.governing->goal)))
        : asked.plan      ? cat("would run ", describe(*asked.plan))
                          : cat("would set ", describe(judged.wanted.setting));
    return {Error{ErrorCode::unavailable, cat("dry run: ", what, "; nothing is changed"), {}}, true};
  }
  // Whoever starts the guard through sudo has its rights judged by the first real set.
  if (!asked.governing && !guarded.more_rights_than_us)
    if (const auto missing = missing_right_of(judged.wanted, open)) return {*missing, false};
  if (!guarded.channel) return {guarded.why_not, false};
  // rubatod is nobody's child here, and is started again where it dies.
  const auto lonely =
      guarded.managed ? std::nullopt : nothing_outlives(*open.selection.backend, guarded.own_scope);
  if (lonely && !options.accept_unrestored) return {*lonely, false};
  if (lonely)
    log::warning(cat(lonely->what, "; ", to_be_set(asked, judged),
                     " is set all the same, as you accept. After a kill of everything at once, ",
                     after_a_kill(*open.selection.backend)));
  return {};
}

/// What a right that is missing keeps from being set here; empty where none is missing, or nobody wanted to.
std::string could_be_set(const OpenGpus& open, bool wanted) {
  if (!wanted || open.gpus.empty()) return {};
  device::Gpu& gpu = *open.gpus.front();
  const Capabilities& can = gpu.capabilities();
  std::string what;
  if (const auto limits = gpu.power_limits(); limits && can.set_power_limit.needs_right)
    what = cat("a power limit of ", number(limits->min.value(), 1), " to ", limits->max, " (",
               limits->requested, " now)");
  if (const auto clocks = gpu.supported_clocks();
      clocks && !clocks->sm.empty() && can.set_sm_clock.needs_right)
    what += cat(what.empty() ? "" : ", ", "an SM clock of ", number(clocks->sm.front().value(), 1), " to ",
                clocks->sm.back());
  if (what.empty()) return {};
  return cat("with the right to set, rubato could use ", what,
             "; `rubato advise --run last` estimates what that would cost and save");
}

/// Learnt on such boards under these knobs; null where there is none, and physics has to do.
std::shared_ptr<const predict::Model> model_for(const Governing& governing, const conduct::RunSpace& space) {
  auto model = model_for_advice({}, space.space.gpu, space.knobs, governing.goal);
  return model && !model->facts.gpus_seen.empty() ? std::move(model->model) : nullptr;
}

/// Of the whole job: ranks are told of by its launcher, and each agent has as many GPUs as this one for its
/// ranks.
unsigned gpus_of_job(const Asked& asked, const OpenGpus& open) {
  const auto here = static_cast<std::int64_t>(open.gpus.size());
  if (!asked.place) return static_cast<unsigned>(here);
  const std::int64_t covers = here >= asked.place->local_world ? asked.place->local_world : 1;
  return static_cast<unsigned>(here * asked.place->world / covers);
}

Result<ChosenStrategy> governing_strategy(const RunOptions& options, const Asked& asked, const Judged& judged,
                                          const OpenGpus& open, const record::RunInfo& run) {
  const Governing& governing = *asked.governing;
  govern::StrategyRequest request;
  request.found_clock_stated = judged.wanted.found_clock_stated;
  const auto goal = goal_here(governing, open);
  if (!goal) return fail(goal.error());
  request.space = judged.space->space;
  request.seed = options.seed;
  request.gpus = gpus_of_job(asked, open);
  request.goal = beside_all(*goal, request.gpus);
  const std::shared_ptr<const Clock> clock = open.selection.backend->clock();
  if (governing.time_left)
    request.deadline = clock->now() + *governing.time_left / clock->wall(Seconds(1.0)).value();
  if (governing.strategy.starts_with(kOwnStrategy)) request.model = model_for(governing, *judged.space);
  if (governing.memory)
    request.remembered = remembered(run.command, run.working_directory, request.space.gpu,
                                    open.selection.backend->driver_version());

  ChosenStrategy out;
  out.intent = cat(governing.strategy, " chooses among ",
                   choice_of(governing.strategy, conduct::describe(request.space), *goal));
  if (request.remembered)
    out.intent += cat("; an earlier run settled at ", describe(request.remembered->setting));
  const auto& axes = request.space.axes;
  const bool clocks = std::any_of(axes.begin(), axes.end(),
                                  [](const plan::KnobAxis& axis) { return axis.knob != Knob::power_limit; });
  const bool stated = request.found_clock_stated;
  // Behind the gate it is known that no clock was locked, or clocks are gone.
  request.found_clock_stated = true;
  auto make = [name = governing.strategy,
               request = std::move(request)](bool with_clocks) -> Result<std::unique_ptr<govern::Strategy>> {
    govern::StrategyRequest told = request;
    if (!with_clocks) told.space = conduct::without_clocks(std::move(told.space));
    if (told.space.axes.empty()) return fail(ErrorCode::unavailable, "nothing else may be set");
    return govern::make_strategy(name, told);
  };
  auto strategy = make(true);
  if (!strategy) return fail(strategy.error());
  if (!clocks || stated)
    out.strategy = std::move(*strategy);
  else
    out.strategy = std::make_unique<conduct::ClockGate>(governing.strategy, std::move(make));
  return out;
}

}  // namespace

void tell(const MeasureOnly& only) {
  if (only.asked_for) {
    log::info(only.why.what);
    return;
  }
  log::warning(Error{only.why.code, cat(only.why.what, "; going on, measuring only"), only.why.hint});
}

Judged judge(const RunOptions& options, const Asked& asked, const OpenGpus& open, const GuardedRun& guarded,
             bool sets) {
  Judged out{.fits = {}, .wanted = asked.wanted, .space = {}, .only = {}, .afterwards = {}};
  if (!asked.anything()) {
    out.only = nothing_asked();
  } else if (open.gpus.empty()) {
    out.only = {Error{ErrorCode::unavailable, "there is no GPU to set", {}}, asked.governing.has_value()};
  } else {
    if (asked.plan) out.fits = plan_fits(*asked.plan, open);
    if (out.fits) out.fits = fit_to_gpus(out.wanted, open.gpus);
    Status fine = out.fits;
    const bool budget = asked.governing && asked.governing->goal.power_budget;
    if (fine && budget) fine = find_budget(out, *asked.governing, open, guarded);
    if (fine && asked.governing && !budget) fine = find_space(out, asked, open, guarded);
    out.only = fine ? why_measure_only(options, asked, out, open, guarded) : MeasureOnly{fine.error(), false};
  }
  if (!out.only.why.what.empty()) out.afterwards = could_be_set(open, sets || asked.bound);
  return out;
}

Result<ChosenStrategy> strategy_for(const RunOptions& options, const Asked& asked, const Judged& judged,
                                    const OpenGpus& open, const record::RunInfo& run) {
  const std::string& why_not = judged.only.why.what;
  if (judged.budget && why_not.empty()) {
    const Goal& goal = asked.governing->goal;
    return ChosenStrategy{std::make_unique<govern::PowerBudgetStrategy>(*goal.power_budget),
                          cat(govern::kPowerBudget, " divides the power limits of ", judged.budget->of_each,
                              " for ", describe(goal)),
                          {}};
  }
  if (asked.governing && why_not.empty()) return governing_strategy(options, asked, judged, open, run);
  if (asked.plan && why_not.empty()) {
    const AskedPlan mine = at_clocks_of(*asked.plan, open);
    const std::string never = why_single_only(mine, open.gpus.size(), environment_map());
    ChosenStrategy out{
        plan_strategy(mine, never, judged.wanted.found_clock_stated, options.seed), describe(mine), {}};
    if (never.empty()) out.plan = mine.plan;
    return out;
  }
  govern::StrategyRequest request;
  request.wanted = judged.wanted.setting;
  request.found_clock_stated = judged.wanted.found_clock_stated;
  request.reason = why_not;
  request.seed = options.seed;
  auto strategy = govern::make_strategy(why_not.empty() ? "fixed" : govern::kMeasureOnly, request);
  if (!strategy) return fail(strategy.error());
  return ChosenStrategy{std::move(*strategy), {}};
}

}  // namespace rubato::cli
