#include "experiment/layers/stage_segments.h"

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace rubato::experiment {
namespace {

using plan::PipelinePass;

std::vector<Megahertz> clocks_of(const plan::Stage& stage) {
  std::vector<Megahertz> out;
  for (const PipelinePass pass : plan::kPipelinePasses)
    for (const plan::StageOption& option : stage.of(pass)) out.push_back(option.frequency);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<PipelinePass> order_of(std::size_t stage, std::size_t stages, unsigned microbatches) {
  const auto ahead = std::min<std::size_t>(stages - stage - 1, microbatches);
  std::vector<PipelinePass> out(ahead, PipelinePass::forward);
  for (std::size_t i = ahead; i < microbatches; ++i) {
    out.push_back(PipelinePass::forward);
    out.push_back(PipelinePass::backward);
  }
  out.insert(out.end(), ahead, PipelinePass::backward);
  return out;
}

}  // namespace

Result<plan::SegmentTable> stage_segments(const plan::StageProfile& profile, std::size_t stage,
                                          unsigned microbatches, Megahertz memory) {
  if (stage >= profile.stages.size())
    return fail(ErrorCode::invalid_argument, cat("stage ", stage, " of '", profile.name, "': it has ",
                                                 profile.stages.size(), ", counted from 0"));
  if (microbatches == 0) return fail(ErrorCode::invalid_argument, "0 micro-batches: needs 1 or more");
  const plan::Stage& chosen = profile.stages[stage];
  const std::vector<Megahertz> clocks = clocks_of(chosen);
  plan::SegmentTable table;
  for (const Megahertz clock : clocks) table.settings.push_back({clock, memory});
  table.at_default = clocks.size() - 1;
  constexpr plan::SegmentCost kCannot{Seconds(0), Joules(std::numeric_limits<double>::infinity())};
  for (const PipelinePass pass : order_of(stage, profile.stages.size(), microbatches)) {
    const bool forward = pass == PipelinePass::forward;
    table.segments.push_back(
        {cat("stage ", stage, " ", plan::name_of(pass)), forward ? LayerPass::forward : LayerPass::backward});
    std::vector<plan::SegmentCost> row(clocks.size(), kCannot);
    for (const plan::StageOption& option : chosen.of(pass)) {
      const auto at = std::lower_bound(clocks.begin(), clocks.end(), option.frequency);
      row[static_cast<std::size_t>(at - clocks.begin())] = {option.time, option.energy};
    }
    table.costs.insert(table.costs.end(), row.begin(), row.end());
  }
  return table;
}

}  // namespace rubato::experiment
