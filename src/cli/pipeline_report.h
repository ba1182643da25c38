// What `rubato pipeline frontier` found, as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/report/page.h"
#include "plan/pipeline/frontier.h"
#include "report/value.h"

namespace rubato::cli {

struct Straggler {
  std::size_t stage = 0;
  double factor = 1;
};

/// The point for an iteration that is over at `deadline`, and what it would have cost to keep the clocks that
/// are best for the fastest iteration without stragglers.
struct PipelineChoice {
  Seconds deadline;
  plan::ChosenPoint chosen;
  plan::IterationCost now;   // waiting for the deadline included
  plan::IterationCost kept;  // likewise
};

struct PipelineFacts {
  std::string profile;
  std::size_t stages = 0;
  std::size_t microbatches = 0;
  std::optional<Seconds> unit;
  Watts blocking;
  bool blocking_assumed = false;
  unsigned dropped = 0;
  std::vector<Straggler> stragglers;
  plan::IterationCost highest;  // every instruction at the highest clock
  plan::Frontier frontier;
  std::optional<PipelineChoice> choice;
};

[[nodiscard]] report::Object pipeline_json(const PipelineFacts& facts);
void say_pipeline(Page& page, const PipelineFacts& facts);

}  // namespace rubato::cli
