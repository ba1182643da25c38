#include "plan/pipeline/one_f_one_b.h"

#include <algorithm>
#include <numeric>

namespace rubato::plan {
namespace {

/// Of the synchronous schedule, in which every instruction takes one slot.
std::size_t slot(const Instruction& i, std::size_t stages) {
  return i.pass == PipelinePass::forward ? 2 * i.microbatch + i.stage
                                         : 2 * (i.microbatch + stages) - 1 - i.stage;
}

}  // namespace

PipelineSchedule one_f_one_b(std::size_t stages, std::size_t microbatches) {
  PipelineSchedule made;
  made.stages = stages;
  auto& all = made.instructions;
  // Where each of (pass, stage, micro-batch) stands in `all`.
  std::vector<std::size_t> at(2 * stages * microbatches);
  const auto key = [&](PipelinePass pass, std::size_t stage, std::size_t microbatch) {
    return (static_cast<std::size_t>(pass) * stages + stage) * microbatches + microbatch;
  };
  for (std::size_t stage = 0; stage < stages; ++stage) {
    const auto first = static_cast<std::ptrdiff_t>(all.size());
    for (const PipelinePass pass : kPipelinePasses)
      for (std::size_t m = 0; m < microbatches; ++m) all.push_back({stage, m, pass});
    std::sort(all.begin() + first, all.end(),
              [&](const auto& a, const auto& b) { return slot(a, stages) < slot(b, stages); });
  }
  for (std::size_t i = 0; i < all.size(); ++i) at[key(all[i].pass, all[i].stage, all[i].microbatch)] = i;

  made.order.resize(all.size());
  std::iota(made.order.begin(), made.order.end(), std::size_t{0});
  std::stable_sort(made.order.begin(), made.order.end(),
                   [&](std::size_t a, std::size_t b) { return slot(all[a], stages) < slot(all[b], stages); });
  for (const std::size_t i : made.order) {
    const Instruction& it = all[i];
    if (i > made.first_of(it.stage)) made.waits.emplace_back(i - 1, i);
    const bool forward = it.pass == PipelinePass::forward;
    if (forward ? it.stage > 0 : it.stage + 1 < stages)
      made.waits.emplace_back(at[key(it.pass, forward ? it.stage - 1 : it.stage + 1, it.microbatch)], i);
  }
  return made;
}

}  // namespace rubato::plan
