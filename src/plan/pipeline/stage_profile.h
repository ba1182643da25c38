// Perseus' stage profiles: how long a forward and a backward of each pipeline stage take at each clock, and
// what they draw. CSV, one row per stage, instruction and frequency.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace rubato::plan {

enum class PipelinePass { forward, backward };
inline constexpr std::array kPipelinePasses = {PipelinePass::forward, PipelinePass::backward};

[[nodiscard]] std::string_view name_of(PipelinePass pass);

/// One micro-batch of one pass on one stage at one clock, waiting for neighbours left out.
struct StageOption {
  Megahertz frequency;
  Seconds time;
  Joules energy;
};

struct Stage {
  std::array<std::vector<StageOption>, 2> passes;  // by PipelinePass; highest clock first

  [[nodiscard]] const std::vector<StageOption>& of(PipelinePass pass) const {
    return passes[static_cast<std::size_t>(pass)];
  }
  [[nodiscard]] std::vector<StageOption>& of(PipelinePass pass) {
    return passes[static_cast<std::size_t>(pass)];
  }
};

struct StageProfile {
  std::string name;
  std::vector<Stage> stages;
};

/// `name` is for messages. Columns stage, instruction, frequency (MHz), time (s), energy (J) in any order.
/// invalid_argument with the line: another column, no number, nothing above zero, a row twice; without one:
/// a stage, a pass or a clock of a pass that is missing.
[[nodiscard]] Result<StageProfile> read_stage_profile(std::string_view text, std::string_view name);

/// A stage that takes `factor` times as long at every clock, at the power it had.
[[nodiscard]] Result<StageProfile> slowed(StageProfile profile, std::size_t stage, double factor);

}  // namespace rubato::plan
