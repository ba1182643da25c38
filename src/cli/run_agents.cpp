#include "cli/run_agents.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "govern/measure_only_strategy.h"

namespace rubato::cli {
namespace {

/// MHz that a rank may be given; nothing where the SM clock is not what is chosen.
std::vector<double> clocks_of_ranks(const Judged& judged) {
  if (judged.space)
    for (const plan::KnobAxis& axis : judged.space->space.axes)
      if (axis.knob == Knob::sm_clock) return axis.values;
  if (judged.only.why.what.empty())
    log::warning(
        "--rank-clocks own: the SM clock is not what is chosen here, so all ranks have the same setting");
  return {};
}

}  // namespace

void agree(WrapPlan& plan, const Asked& asked, const Judged& judged, const OpenGpus& open,
           const AgentsText& text) {
  if (!asked.place && asked.rank_clocks)
    log::warning(Error{ErrorCode::unavailable,
                       "--rank-clocks own: this run has no ranks beside it to agree with",
                       "on one node, with a rubato run for each rank: --agents job"});
  if (!asked.place || open.gpus.empty()) return;
  AgentFacts facts{.run = plan.info.run_id};
  for (const auto& gpu : open.gpus) facts.gpus.push_back(gpu->identity().id);
  const bool may_set = judged.only.why.what.empty();
  if (may_set && judged.space)
    facts.space = cat(judged.space->space.gpu, ", ", conduct::describe(judged.space->space));
  else if (may_set)
    facts.space = describe(judged.wanted.setting);
  auto agent = make_job_agent(*asked.place, text, facts, *open.selection.backend->clock());
  if (!agent) {
    const Error& error = agent.error();
    log::warning(Error{error.code,
                       cat(error.what, "; the agents of this job cannot agree, so it is measured only"),
                       error.hint});
    plan.strategy = std::make_unique<govern::MeasureOnlyStrategy>(error.what);
    plan.intent.clear();
    return;
  }
  const auto& knobs = judged.wanted.knobs;
  const bool clocks =
      std::any_of(knobs.begin(), knobs.end(), [](Knob knob) { return knob != Knob::power_limit; });
  plan.place = asked.place;
  plan.agent = std::move(*agent);
  plan.strategy =
      agreeing(plan.agent, std::move(plan.strategy),
               {.clocks = clocks,
                .stated = judged.wanted.found_clock_stated,
                .never = judged.only.why.what,
                .rank_clocks = asked.rank_clocks ? clocks_of_ranks(judged) : std::vector<double>()});
  if (plan.agent->member() != nullptr) {
    plan.intent = plan.intent.empty() ? std::string() : "what rank 0 of the job and all its agents agree on";
    plan.after = {};
  }
}

}  // namespace rubato::cli
