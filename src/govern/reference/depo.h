// DEPO (Krzywaniak, Czarnul: SP&E 2022; FGCS 145, 2023) as MF-GPOEO's authors ported it to GPUs: one golden
// section over power limits, from just above what the job draws, and no look back.
#pragma once

#include <cstddef>
#include <utility>

#include "govern/reference/gears.h"
#include "govern/reference/score.h"
#include "govern/reference/search.h"

namespace rubato::govern {

struct DepoOptions {
  double gear_watts = 5;       // power limits are tried in such steps; other knobs in their own
  double least_first = 0.10;   // first step down, as a share of the gears
  double first = 0.85;         // and of the way from the top to the gear of the power drawn
  double step = 0.15;          // further ones, as a share of the span
  std::size_t narrow = 5;      // gears: the section ends
  double weight_of_new = 0.3;  // of a point that is measured again
  TrialLength baseline{.settle = 16_s, .time = 16_s};  // four windows of 4 s
  TrialLength trial{.settle = {}, .time = 4_s};
};

/// The gears DEPO knows: every `gear_watts` from the lowest power limit.
[[nodiscard]] plan::KnobSpace depo_space(const plan::KnobSpace& space, std::size_t axis, double gear_watts);

class Depo final : public Search {
 public:
  /// `gears` as depo_space() thins them.
  Depo(DepoOptions options, Gears gears, const Aim& aim)
      : options_(options), gears_(std::move(gears)), aim_(aim) {}

  [[nodiscard]] std::string_view name() const override { return "depo"; }
  [[nodiscard]] TrialLength baseline() const override { return options_.baseline; }
  [[nodiscard]] SearchStep next(std::span<const TrialResult> seen) override;

  /// The first gear it tries where the job draws `power` at the found setting.
  [[nodiscard]] std::size_t first_gear(Watts power) const;

 private:
  DepoOptions options_;
  Gears gears_;
  Aim aim_;
};

}  // namespace rubato::govern
