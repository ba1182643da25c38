// The modelled half of the study: two networks on two boards.
#pragma once

#include <string>
#include <vector>

#include "core/board_figures.h"
#include "layer_study/break_even.h"
#include "predict/layers/layer_costs.h"

namespace rubato::layer_study {

struct Question {
  std::string network = "resnet50";
  std::string profile = "rtxa4000";
  unsigned batch = 64;
  bool forward_only = false;
  double bound = 0.05;
  Precision precision = Precision::tf32;
  std::size_t most_sm_clocks = 0;  // all: between thinned ones a mixture gains what a finer clock would
  predict::Reach reach = predict::published_reach();
};
[[nodiscard]] std::string words_of(const Question& question);  // "resnet50, training, batch 64"

/// Everything that is to be known of one question; the process ends with the reason where it cannot be had.
struct Case {
  Question question;
  BoardFigures board;
  plan::SegmentTable table;
  plan::Switching published;
  Outcomes outcomes;
};
[[nodiscard]] Case answer(const Question& question);

/// A change of clocks of the board's published kind, but of this delay; what stalls does so no longer.
[[nodiscard]] plan::Switching switching_at(const Case& of, Seconds delay);

/// The same plan where every change takes this long instead of what it was made for.
[[nodiscard]] Outcome met_by(const Case& of, const Outcome& plan, Seconds delay);

struct Durations {
  std::size_t layers = 0;
  Seconds iteration;
  Seconds median;
  Seconds p90;
  Seconds longest;
  double longer_than_delay = 0;  // share of the iteration in layers longer than the published delay
};
[[nodiscard]] Durations durations_of(const Case& of);

}  // namespace rubato::layer_study
