// The measured half of the study: forwards and backwards of pipeline stages on an A100 SXM.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/board_figures.h"
#include "layer_study/break_even.h"

namespace rubato::layer_study {

struct StageCase {
  std::size_t stage = 0;
  BoardFigures board;
  plan::SegmentTable table;
  Outcomes outcomes;
  Megahertz single;      // the best clock for both
  Seconds forward_time;  // at the default
  Seconds backward_time;
};

struct Model {
  std::string name;  // "gpt3-175b"
  std::vector<StageCase> stages;
};

inline constexpr unsigned kMicrobatches = 12;

/// The process ends with the reason where the file cannot be read.
[[nodiscard]] Model read_model(const std::string& file, const std::string& name, double bound);
/// SM clocks alone: nothing stalls.
[[nodiscard]] plan::Switching switching_at(const StageCase& of, Seconds delay);

}  // namespace rubato::layer_study
