// Plans of clocks over layers as `rubato layers plan` makes and prints them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/report/page.h"
#include "plan/layers/layer_plan.h"
#include "plan/layers/strategy.h"
#include "report/value.h"

namespace rubato::cli {

struct PlannedBy {
  std::string strategy;
  std::optional<plan::SegmentPlan> plan;
  std::string why_not;                     // where there is no plan
  std::vector<plan::PlannedPhase> phases;  // empty: iterations differ from each other
  std::string why_no_phases;
};

struct LayersPlanned {
  NetworkDemands demands;
  std::optional<double> parameters;  // that are trained; absent: layers were left out
  std::optional<LayerPass> only;
  std::string board;
  std::string uuid;
  plan::SegmentTable table;
  plan::Switching switching;
  plan::LayerGoal goal;
  Seconds delay;             // median over pairs, as counted
  std::string delay_source;  // for people
  bool of_this_gpu = false;  // the delays were measured on this very GPU
  bool memory_clocks = false;
  plan::SegmentCost at_default;
  plan::SegmentCost at_single;
  std::size_t single = 0;  // of the table's settings
  std::vector<PlannedBy> plans;
};

/// As it is written for `rubato run --plan`.
[[nodiscard]] plan::LayerPlan layer_plan_of(const LayersPlanned& planned, const PlannedBy& by);

[[nodiscard]] report::Object layers_plan_json(const LayersPlanned& planned);
void say_layers_plan(Page& page, const LayersPlanned& planned);

}  // namespace rubato::cli
