// A run whose setting several agents agree on: the ranks of one job, each with a rubato of its own.
#pragma once

#include "cli/agents.h"
#include "cli/gpus.h"
#include "cli/run_strategy.h"
#include "cli/wrap.h"

namespace rubato::cli {

/// Joins the agents of the job and wraps the strategy of `plan` accordingly; what keeps it from that leaves
/// it measuring only. Nothing where this run has nobody to agree with.
void agree(WrapPlan& plan, const Asked& asked, const Judged& judged, const OpenGpus& open,
           const AgentsText& text);

}  // namespace rubato::cli
