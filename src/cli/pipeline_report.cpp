#include "cli/pipeline_report.h"

namespace rubato::cli {
namespace {

using plan::FrontierPoint;
using plan::IterationCost;
using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

Value seconds(Seconds s) {
  return Amount{s.value(), "s", 3};
}
Value joules(Joules j) {
  return Amount{j.value(), "J", 1};
}

Object cost_json(const IterationCost& cost) {
  return {{"time_s", seconds(cost.time)}, {"energy_j", joules(cost.energy)}};
}
Object point_json(const FrontierPoint& point) {
  return {{"time_s", seconds(point.continuous.time)},
          {"energy_j", joules(point.continuous.energy)},
          {"realised_time_s", seconds(point.realised.time)},
          {"realised_energy_j", joules(point.realised.energy)}};
}

double saving(const PipelineChoice& choice) {
  return 1 - choice.now.energy / choice.kept.energy;
}

Value choice_json(const std::optional<PipelineChoice>& choice) {
  if (!choice) return Missing{"no deadline, straggler or file of clocks was asked for"};
  Object out{{"deadline_s", seconds(choice->deadline)}};
  const Object point = point_json(choice->chosen.point);
  for (const auto& member : point.members()) out.set(member.key, member.value);
  out.set("until_deadline", cost_json(choice->now));
  out.set("clocks_of_fastest_kept", cost_json(choice->kept));
  out.set("saving_fraction", Amount{saving(*choice), "", 4});
  return out;
}

std::string text_of(const IterationCost& cost) {
  return cat(fixed(cost.time.value(), 3), " s, ", fixed(cost.energy.value(), 0), " J");
}

/// Against `from`, in words: "1.2 % less energy".
std::string against(const IterationCost& cost, const IterationCost& from) {
  const double less = 1 - cost.energy / from.energy;
  const double longer = cost.time / from.time - 1;
  return cat(percent(std::abs(less)), less >= 0 ? " less energy, " : " more energy, ",
             percent(std::abs(longer)), longer >= 0 ? " more time" : " less time");
}

}  // namespace

Object pipeline_json(const PipelineFacts& facts) {
  Array stragglers;
  for (const Straggler& s : facts.stragglers)
    stragglers.emplace_back(Object{{"stage", s.stage}, {"factor", Amount{s.factor, ""}}});
  Array points;
  for (const FrontierPoint& point : facts.frontier.points) points.emplace_back(point_json(point));
  return {{"schema", "rubato.pipeline-frontier/1"},
          {"profile", facts.profile},
          {"schedule", "1f1b"},
          {"stages", facts.stages},
          {"microbatches", facts.microbatches},
          {"time_unit_s", facts.unit ? seconds(*facts.unit) : Value(Missing{"exact times"})},
          {"blocking_power_w", Amount{facts.blocking.value(), "W"}},
          {"blocking_power_assumed", facts.blocking_assumed},
          {"dropped_clocks", facts.dropped},
          {"breakpoints", facts.frontier.breakpoints},
          {"stragglers", std::move(stragglers)},
          {"all_at_highest_clock", cost_json(facts.highest)},
          {"fastest", point_json(facts.frontier.points.front())},
          {"least_energy", point_json(facts.frontier.points.back())},
          {"choice", choice_json(facts.choice)},
          {"kind", Object{{"energy_j", "interpolated"}, {"realised_energy_j", "replayed"}}},
          {"points", std::move(points)}};
}

void say_pipeline(Page& page, const PipelineFacts& facts) {
  const auto& points = facts.frontier.points;
  page.heading(
      cat(facts.profile, ", ", facts.stages, " stages, ", facts.microbatches, " micro-batches, 1F1B"));
  for (const Straggler& s : facts.stragglers)
    page.row("straggler", cat("stage ", s.stage, ", ", number(s.factor, 3), " times as long"));
  page.row("waiting", cat(facts.blocking, " a stage",
                          facts.blocking_assumed ? ", assumed: what Perseus measured on A100 SXM" : ""));
  if (facts.unit)
    page.row("times",
             cat("floored to ", number(1e3 * facts.unit->value(), 6), " ms; replayed ones are exact"));
  if (facts.dropped > 0)
    page.row("left out", cat(facts.dropped, " clocks that are slower than another and save nothing"));
  page.gap();
  report::Table table(
      {{"one iteration", false}, {"time", true}, {"energy", true}, {"replayed with clocks", true}});
  const auto add = [&](std::string name, const FrontierPoint& p) {
    table.add({std::move(name), cat(fixed(p.continuous.time.value(), 3), " s"),
               cat(fixed(p.continuous.energy.value(), 0), " J"), text_of(p.realised)});
  };
  table.add({"all at the highest clock", "-", "-", text_of(facts.highest)});
  add("fastest", points.front());
  if (facts.choice) add("chosen", facts.choice->chosen.point);
  add("least energy", points.back());
  page.table(table);
  page.gap();
  page.say(cat("The fastest iteration takes ", against(points.front().realised, facts.highest),
               " than all at the highest clock; a longer iteration than ",
               fixed(points.back().continuous.time.value(), 3), " s saves nothing more."));
  if (!facts.choice) return;
  const PipelineChoice& choice = *facts.choice;
  page.say(cat(
      "Over at ", fixed(choice.deadline.value(), 3), " s: ", text_of(choice.now),
      " with waiting until then, against ", text_of(choice.kept), " with the clocks of the fastest iteration",
      facts.stragglers.empty() ? "" : " without stragglers", ": it saves ", percent(saving(choice)), "."));
}

}  // namespace rubato::cli
