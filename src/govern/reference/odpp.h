// ODPP (Zou et al., CCGRID 2020) as GPOEO's authors ported it: four clocks, piecewise linear models of time
// and energy, three more clocks in between to correct them, and the best clock of the corrected models.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "govern/reference/gears.h"
#include "govern/reference/power_spread.h"
#include "govern/reference/score.h"
#include "govern/reference/search.h"

namespace rubato::govern {

struct OdppOptions {
  PowerSpreadOptions spread{.limit = 0.15};
  /// As published the bound is compared with predicted seconds, less one, and not with a ratio.
  bool seconds_as_ratio = false;
  TrialLength length{.settle = 1_s, .time = 25_s, .work = 3};
};

/// The four gears of the models and the three between them, in the order they are measured.
[[nodiscard]] std::vector<std::size_t> odpp_samples(std::size_t lowest, std::size_t top);

/// The multilayer perceptron that corrects the published models was not published with its weights: here the
/// three further clocks correct them directly, by what they show between their neighbours.
class Odpp final : public Search {
 public:
  Odpp(OdppOptions options, Gears gears, const Aim& aim);

  [[nodiscard]] std::string_view name() const override { return "odpp"; }
  [[nodiscard]] TrialLength baseline() const override { return options_.length; }
  [[nodiscard]] SearchStep next(std::span<const TrialResult> seen) override;
  [[nodiscard]] bool again(const Cost& held) override;
  [[nodiscard]] TrialLength watch() const override;

 private:
  OdppOptions options_;
  Gears gears_;
  Aim aim_;
  std::vector<std::size_t> samples_;
  PowerSpread spread_;
  Seconds period_;
};

}  // namespace rubato::govern
