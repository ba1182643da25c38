// The plain bisection that rubato is measured against: halve the range between the slowest setting that held
// the bound and the fastest that did not, five times, and take the best that held.
#pragma once

#include <cstddef>
#include <utility>

#include "govern/reference/gears.h"
#include "govern/reference/score.h"
#include "govern/reference/search.h"

namespace rubato::govern {

struct BisectionOptions {
  std::size_t tries = 5;
  double margin = 0.004;  // of the baseline's time, kept below the bound for noise
  TrialLength baseline{.settle = {}, .time = {}, .work = 60};
  TrialLength trial{.settle = {}, .time = {}, .work = 30, .settle_work = 5};
};

class Bisection final : public Search {
 public:
  Bisection(BisectionOptions options, Gears gears, const Aim& aim)
      : options_(options), gears_(std::move(gears)), aim_(aim) {
    aim_.bound -= options_.margin;
  }

  [[nodiscard]] std::string_view name() const override { return "bisection"; }
  [[nodiscard]] TrialLength baseline() const override { return options_.baseline; }
  [[nodiscard]] SearchStep next(std::span<const TrialResult> seen) override;

 private:
  BisectionOptions options_;
  Gears gears_;
  Aim aim_;
};

}  // namespace rubato::govern
