// The synchronous 1F1B schedule of pipeline-parallel training: in which order each stage runs its forwards
// and backwards, and what each has to wait for.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "plan/pipeline/stage_profile.h"

namespace rubato::plan {

struct Instruction {
  std::size_t stage = 0;
  std::size_t microbatch = 0;
  PipelinePass pass = PipelinePass::forward;
};

struct PipelineSchedule {
  std::size_t stages = 0;
  std::vector<Instruction> instructions;  // stage by stage, each in its stage's order
  /// Indices: the second cannot begin before the first has ended. What an instruction waits for stands
  /// before everything that waits for it, so one pass over them adds up times.
  std::vector<std::pair<std::size_t, std::size_t>> waits;
  std::vector<std::size_t> order;  // indices so that everything stands behind what it waits for

  /// Instructions of `stage` are [first_of(stage), first_of(stage + 1)).
  [[nodiscard]] std::size_t first_of(std::size_t stage) const { return stage * instructions.size() / stages; }
};

/// Stage s begins with stages - s forwards (all of them where there are fewer micro-batches), then turns
/// between a backward and a forward, and ends with the backwards left. As in DeepSpeed, Megatron, Perseus.
[[nodiscard]] PipelineSchedule one_f_one_b(std::size_t stages, std::size_t microbatches);

}  // namespace rubato::plan
