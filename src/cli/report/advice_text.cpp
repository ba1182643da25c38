#include <algorithm>
#include <cmath>

#include "cli/report/advice_report.h"
#include "plan/setting_of.h"

namespace rubato::cli {
namespace {

using experiment::Advice;

std::string interval(double median, double low, double high) {
  return cat(percent(median), ", ", percent(low), " to ", percent(high), " with 90 % confidence");
}

std::string saved(const plan::Expected& spent) {
  return interval(1 - spent.median, 1 - spent.high, 1 - spent.low);
}

std::string number_of_seconds(Watts joules_per_second) {
  return number(joules_per_second.value(), 0);
}

void say_measured(Page& page, const AdviceReport& r) {
  const auto& m = r.measured;
  const predict::Observed& at = m.known.at_default;
  const std::string boards =
      m.gpus.size() == 1 ? cat("GPU ", m.gpus.front().index) : cat(m.gpus.size(), " GPUs, mean of one");
  const std::string unit = m.iterations > 0 ? cat("an iteration, over ", m.iterations)
                                            : std::string("the whole run; no iteration was found");
  page.heading(cat("Advice for ", boards, ", ", m.known.gpu, " (", name_of(m.kind), ")"));
  page.row("measured", cat(at.time, " and ", at.energy, " ", unit));
  page.row("power",
           at.at.power_limit ? cat(at.power(), " under a limit of ", *at.at.power_limit) : cat(at.power()));
}

void say_probes(Page& page, const AdviceReport& r) {
  const predict::Observed& by_default = r.measured.known.at_default;
  for (const predict::Observed& probe : r.measured.known.probes)
    page.row("tried", cat(describe(plan::setting_of(probe.at)), ": ", probe.time, " (",
                          percent(probe.time / by_default.time - 1), " more) and ", probe.energy, " (",
                          percent(1 - probe.energy / by_default.energy), " less)"));
}

void say_model(Page& page, const AdviceReport& r) {
  std::string seen;
  for (const std::string& gpu : r.model.gpus_seen) seen += cat(seen.empty() ? "" : ", ", gpu);
  page.row("model", cat(r.model.name, "; it has seen ", seen.empty() ? "no GPU" : seen,
                        r.advice.gpu_seen || seen.empty() ? "" : ", and not this one"));
  if (!r.advice.gpu_seen && r.advice.refused.empty() && r.model.on_unseen_gpus)
    page.row("elsewhere",
             cat("on GPUs it had not seen, its advice saved ", percent(r.model.on_unseen_gpus->low), " to ",
                 percent(r.model.on_unseen_gpus->high), " (90 % interval of the mean)"));
}

void say_price(Page& page, const AdviceReport& r) {
  const std::string_view of = r.goal.host_watts ? " J of board and host" : " J of the board";
  if (r.advice.price.faster)
    page.row("1 s less", cat("would cost ", number_of_seconds(*r.advice.price.faster), of));
  else
    page.row("1 s less", "cannot be had by a setting");
  if (r.advice.price.slower)
    page.row("1 s more", cat("would save ", number_of_seconds(*r.advice.price.slower), of));
  else
    page.row("1 s more", "would save nothing");
}

std::string counted_beside(const Goal& goal) {
  std::string text;
  if (goal.host_watts) text += cat("; ", *goal.host_watts, " of the host counted");
  if (goal.second) text += cat("; a second counted as ", Joules(goal.second->value()));
  if (goal.idle) text += cat("; ", *goal.idle, " of an idle board not counted");
  return text;
}

void say_choice(Page& page, const AdviceReport& r) {
  const Advice& advice = r.advice;
  if (!advice.at) {
    page.row("set", "nothing");
    page.say(cat(advice.choice.why, "."));
    return;
  }
  page.row("set", describe(plan::setting_of(*advice.at)));
  const std::string beside = counted_beside(r.goal);
  if (r.goal.objective != Objective::energy || !beside.empty())
    page.row(cat("of ", name_of(r.goal.objective)), cat(saved(advice.choice.objective), beside));
  page.row("saves", cat(saved(advice.choice.energy), ", of the board's energy"));
  const plan::Expected& time = advice.choice.time;
  page.row("slower by",
           cat(interval(time.median - 1, time.low - 1, time.high - 1), "; at most ",
               percent(r.goal.max_slowdown), " with probability ", percent(advice.choice.holds)));
}

}  // namespace

std::string advised_command(const AdviceReport& r) {
  std::string command = "rubato ";
  if (!r.advice.refused.empty()) {
    command += "sweep";
    const PowerLimits& limits = r.measured.limits;
    if (!r.gpu_list.empty()) command += cat(" --gpu ", r.gpu_list);
    // Five settings or more, also where a board's limits lie close together.
    const double step =
        std::max(1.0, std::min(25.0, std::floor((limits.requested - limits.min).value() / 5)));
    command += cat(" --knob power-limit=", number(limits.min.value(), 0), ":",
                   number(limits.requested.value(), 0), ":", number(step, 0));
  } else if (r.advice.at) {
    command += "run";
    if (!r.gpu_list.empty()) command += cat(" --gpu ", r.gpu_list);
    const predict::KnobPoint& at = *r.advice.at;
    if (at.power_limit) command += cat(" --power-limit ", number(at.power_limit->value(), 1));
    if (at.sm_clock) command += cat(" --sm-clock ", number(at.sm_clock->value(), 1));
    if (at.memory_clock) command += cat(" --memory-clock ", number(at.memory_clock->value(), 1));
  } else {
    return {};
  }
  return cat(command, " -- ", command_line(r.command));
}

void say_advice(Page& page, const AdviceReport& r) {
  say_measured(page, r);
  say_probes(page, r);
  say_model(page, r);
  if (!r.advice.refused.empty()) {
    page.row("set", "no advice");
    page.say(cat(r.advice.refused, ". So no number is given for it."));
  } else {
    say_choice(page, r);
    say_price(page, r);
    constexpr double kSure = 0.8;
    if (r.advice.at && r.advice.choice.holds < kSure && r.measured.known.probes.empty())
      page.say("Trying two settings would make that surer: add --probe 2.");
  }
  const std::string next = advised_command(r);
  if (next.empty()) return;
  page.gap();
  page.say(r.advice.refused.empty() ? "To do so:" : "To measure it instead (or: rubato calibrate):");
  page.say_after("    ", next);
}

}  // namespace rubato::cli
