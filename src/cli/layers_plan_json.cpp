#include "cli/json_values.h"
#include "cli/layers_plan.h"

namespace rubato::cli {
namespace {

using report::Array;
using report::Missing;
using report::Object;
using report::Value;

Object clocks_json(const predict::Clocks& clocks) {
  return {{"sm_clock_mhz", exact(clocks.sm.value())}, {"memory_clock_mhz", exact(clocks.memory.value())}};
}

Object cost_json(const plan::SegmentCost& cost) {
  return {{"time_s", exact(cost.time.value())},
          {"energy_j", exact(cost.energy.value())},
          {"edp_js", exact(cost.energy.value() * cost.time.value())}};
}

Object phase_json(const plan::PlannedPhase& phase) {
  return {{"first", phase.first},
          {"last", phase.last},
          {"pass", name_of(phase.pass)},
          {"sm_clock_mhz", exact(phase.clocks.sm.value())},
          {"memory_clock_mhz", exact(phase.clocks.memory.value())},
          {"duration_s", exact(phase.duration.value())},
          {"energy_j", exact(phase.energy.value())}};
}

Object plan_json(const LayersPlanned& planned, const PlannedBy& by) {
  Object out{{"strategy", by.strategy}};
  if (!by.plan) {
    out.set("planned", Missing{by.why_not});
    out.set("why", by.why_not);
    return out;
  }
  const plan::SegmentPlan& plan = *by.plan;
  out.set("planned", cost_json({plan.time, plan.energy}));
  out.set("slowdown", exact(plan.time / planned.at_default.time - 1));
  out.set("saving", exact(1 - plan.energy / planned.at_default.energy));
  out.set("saving_over_single", exact(1 - plan.energy / planned.at_single.energy));
  out.set("changes_per_iteration", exact(plan.changes));
  out.set("why", plan.why);
  out.set("refused", Object{{"stretches", plan.refused.stretches},
                            {"longest_s", exact(plan.refused.longest.value())},
                            {"needed_s", exact(plan.refused.needed.value())}});
  Array phases;
  for (const plan::PlannedPhase& phase : by.phases) phases.emplace_back(phase_json(phase));
  if (by.phases.empty())
    out.set("phases", Missing{by.why_no_phases});
  else
    out.set("phases", std::move(phases));
  return out;
}

}  // namespace

report::Object layers_plan_json(const LayersPlanned& planned) {
  Array plans;
  for (const PlannedBy& by : planned.plans) plans.emplace_back(plan_json(planned, by));
  return {{"schema", "rubato.layer-plans/1"},
          {"kind", name_of(Kind::modelled)},
          {"network", planned.demands.network},
          {"batch", planned.demands.batch},
          {"input", planned.demands.input},
          {"precision", name_of(planned.demands.precision)},
          {"pass", planned.only ? Value(name_of(*planned.only)) : Value(Missing{"all of them"})},
          {"gpu", planned.board},
          {"uuid", planned.uuid},
          {"max_slowdown", exact(planned.goal.max_slowdown)},
          {"host_w", exact(planned.goal.host.value())},
          {"switching_delay_s", exact(planned.delay.value())},
          {"switching_delay_source", planned.delay_source},
          {"dwell_s", exact(planned.switching.dwell.value())},
          {"segments", planned.table.segments.size()},
          {"settings", planned.table.settings.size()},
          {"at_default", cost_json(planned.at_default)},
          {"default", clocks_json(planned.table.settings[planned.table.at_default])},
          {"at_single", cost_json(planned.at_single)},
          {"single", clocks_json(planned.table.settings[planned.single])},
          {"plans", std::move(plans)}};
}

}  // namespace rubato::cli
