#include "layer_study/stages.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "device/registry.h"
#include "device/sim/profile.h"
#include "experiment/layers/stage_segments.h"
#include "experiment/layers/switching.h"
#include "layer_study/value_or_end.h"
#include "plan/pipeline/stage_profile.h"

namespace rubato::layer_study {
namespace {

std::string text_of_file(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream out;
  out << in.rdbuf();
  if (!in) {
    std::fprintf(stderr, "cannot read %s\n", file.c_str());
    std::exit(1);
  }
  return out.str();
}

// Of the first segment of this pass.
std::size_t segment_of(const plan::SegmentTable& table, LayerPass pass) {
  std::size_t i = 0;
  while (table.segments[i].pass != pass) ++i;
  return i;
}

void note_single(StageCase& of, const plan::LayerGoal& goal) {
  const std::size_t forward = segment_of(of.table, LayerPass::forward);
  const std::size_t backward = segment_of(of.table, LayerPass::backward);
  of.forward_time = of.table.cost(forward, of.table.at_default).time;
  of.backward_time = of.table.cost(backward, of.table.at_default).time;
  const auto plan = (*plan::find_layer_strategy("single"))->plan(of.table, {}, goal);
  of.single = of.table.settings[plan ? plan->setting[forward] : of.table.at_default].sm;
}

}  // namespace

Model read_model(const std::string& file, const std::string& name, double bound) {
  const auto profile = value_or_end(plan::read_stage_profile(text_of_file(file), file));
  const BoardFigures board =
      *device::board_figures_of(value_or_end(device::sim::find_profile("a100-sxm4-80gb"))->board);
  const plan::LayerGoal goal{.max_slowdown = bound};
  Model out{name, {}};
  for (std::size_t s = 0; s < profile.stages.size(); ++s) {
    StageCase one;
    one.stage = s;
    one.board = board;
    one.table = value_or_end(experiment::stage_segments(profile, s, kMicrobatches, board.memory_default));
    one.outcomes = outcomes_of(one.table, switching_at(one, board.clock_latency.typical), goal);
    note_single(one, goal);
    out.stages.push_back(std::move(one));
  }
  return out;
}

plan::Switching switching_at(const StageCase& of, Seconds delay) {
  return experiment::switching_of(of.table.settings, of.board, experiment::SwitchCosts{delay, Seconds(0)});
}

}  // namespace rubato::layer_study
