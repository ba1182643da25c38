// Up to which delay of a clock change a strategy is worth more than the best single setting.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "layer_study/outcome.h"

namespace rubato::layer_study {

/// Less than this share of the energy is no gain: below it tables and models are noise.
inline constexpr double kWorthIt = 0.001;

using SwitchingAt = std::function<plan::Switching(Seconds delay)>;

struct Study {
  const plan::SegmentTable& table;
  SwitchingAt switching;
  plan::LayerGoal goal;
};

/// Energy saved over the best single setting; absent where the plan breaks the bound on time, or there is
/// none.
[[nodiscard]] std::optional<double> gain_at(const Study& study, const plan::LayerStrategy& strategy,
                                            Seconds delay);

struct BreakEven {
  bool ever = false;             // it gains where switching is free
  std::optional<Seconds> delay;  // where it first stops; absent: it gains at every delay looked at
  std::vector<std::optional<double>> gains;  // at the delays given
};
/// `delays` ascending, first is a change at no cost. Between the last that pays and the first that does not:
/// bisection on the logarithm, to a fifth.
[[nodiscard]] BreakEven break_even(const Study& study, const plan::LayerStrategy& strategy,
                                   std::span<const Seconds> delays);

}  // namespace rubato::layer_study
