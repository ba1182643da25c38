// A plan of clocks over one iteration as it is written, read and run: rubato.layer-plan/1 (docs/formats.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "core/kind.h"
#include "core/layer_demand.h"
#include "plan/layers/segments.h"
#include "predict/roofline/roofline.h"

namespace rubato::plan {

/// From one request to the next: neighbouring segments that want the same clocks.
struct PlannedPhase {
  std::string first;  // layer
  std::string last;
  LayerPass pass = LayerPass::forward;  // of the first
  predict::Clocks clocks;
  Seconds duration;  // of device time, the tail at the clocks before in it
  Joules energy;
  bool begins_pass = true;  // where its pass begins, and not inside it
};

struct PlannedCost {
  Seconds time;  // of one iteration
  Joules energy;
};

struct LayerPlan {
  std::string board;                // as the driver prints it
  std::optional<std::string> uuid;  // where switching times of one GPU are in it
  std::string network;
  unsigned batch = 0;
  /// That the network trains, each counted once: what a job can be recognised by. Plans of before have none.
  std::optional<double> parameters;
  std::string input;
  Precision precision = Precision::fp32;
  std::optional<LayerPass> only;  // planned alone; absent: a whole iteration
  std::string strategy;
  double max_slowdown = 0.05;
  Kind kind = Kind::modelled;  // of the costs below
  bool memory_clock = false;   // it sets memory clocks too
  predict::Clocks single;      // the best single setting inside the bound, which it falls back to
  PlannedCost at_default;
  PlannedCost at_single;
  PlannedCost planned;
  Seconds switching_delay;           // median that was counted
  Seconds dwell;                     // shortest time between two requests
  std::vector<PlannedPhase> phases;  // in device time, from an iteration's begin; at least one
};

/// unavailable: its iterations differ from each other, so that there is none to write down.
[[nodiscard]] Result<std::vector<PlannedPhase>> phases_of(const SegmentTable& table,
                                                          const Switching& switching,
                                                          const SegmentPlan& plan);

[[nodiscard]] std::string write_layer_plan(const LayerPlan& plan);
/// invalid_argument names the field, value found and value needed.
[[nodiscard]] Result<LayerPlan> read_layer_plan(std::string_view json);

}  // namespace rubato::plan
