// Which of several settings to take under a bound, given what is believed of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/objective.h"
#include "predict/prediction.h"

namespace rubato::plan {

/// What an objective is made of: ratios to the default setting.
struct Expected {
  double median = 0;
  double low = 0;  // 90 % interval
  double high = 0;
};

struct Choice {
  std::optional<std::size_t>
      setting;       // in Prediction::at; nothing: stay at the default, no saving is worth the risk
  double holds = 1;  // probability that the bound holds there
  Expected time;     // over the default's
  Expected energy;
  Expected objective;
  std::string why;  // one sentence
};

struct Caution {
  /// Least probability that the bound holds: a setting that is more likely to break it than not is no advice,
  /// whatever it would save if it held. 0: only weighed against the saving.
  double confidence = 0.5;
  double least_saving = 0.0;  // of the objective, expected, below which nothing is changed
};

/// Without `bounded` the objective alone decides. With it: the setting with the highest expected saving where
/// a broken bound saves nothing (the probability that it holds times the saving where it does). Never one
/// whose expected objective is above the default's. What a second costs beside the board's joules counts in
/// every objective (share_of_time, with the watts of the board at the default); of cost the price per joule
/// cancels.
[[nodiscard]] Choice choose(const predict::Prediction& believed, const Goal& goal, Watts board_at_default,
                            bool bounded, const Caution& caution = {});

/// Which setting to measure next so that the choice, inside the bound and without one, and half as much the
/// curves as a whole, gain most; nothing where no candidate is left. `measured` says which of Prediction::at
/// were measured already.
[[nodiscard]] std::optional<std::size_t> next_probe(const predict::Prediction& believed, const Goal& goal,
                                                    Watts board_at_default,
                                                    const std::vector<bool>& measured);

}  // namespace rubato::plan
