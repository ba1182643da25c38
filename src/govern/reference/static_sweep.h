// The simplest reference: measure every n-th setting from the top down, then take the best inside the bound.
#pragma once

#include <cstddef>
#include <vector>

#include "govern/reference/score.h"
#include "govern/reference/search.h"
#include "plan/knob_space.h"

namespace rubato::govern {

struct StaticSweepOptions {
  std::size_t most = 12;  // settings; over all axes together
  TrialLength length{.settle = 1_s, .time = 5_s, .work = 40};
};

class StaticSweep final : public Search {
 public:
  StaticSweep(StaticSweepOptions options, const plan::KnobSpace& space, const Aim& aim);

  [[nodiscard]] std::string_view name() const override { return "static-sweep"; }
  [[nodiscard]] TrialLength baseline() const override { return options_.length; }
  [[nodiscard]] SearchStep next(std::span<const TrialResult> seen) override;

 private:
  StaticSweepOptions options_;
  Aim aim_;
  std::vector<predict::KnobPoint> tries_;  // highest first, without the found setting
};

}  // namespace rubato::govern
