// The page docs/evidence/layers.md and its plot, from what the study found.
#pragma once

#include <string>
#include <vector>

#include "layer_study/networks.h"
#include "layer_study/stages.h"

namespace rubato::layer_study {

/// Every question of the modelled half; the first are those of the main tables.
struct Answers {
  std::vector<Case> main;       // 5 % bound, batch 64
  std::vector<Case> others;     // other bounds and batches
  std::vector<Case> sensitive;  // other precisions and shares of the roofs
};

struct CaseBreakEven {
  const Case* of = nullptr;
  std::vector<std::string> strategies;
  std::vector<BreakEven> found;  // one for each strategy
};
[[nodiscard]] std::vector<Seconds> delays_looked_at();  // the first is 0
[[nodiscard]] std::vector<CaseBreakEven> break_evens(const std::vector<Case>& cases);
[[nodiscard]] std::string break_even_plot(const std::vector<CaseBreakEven>& found,
                                          const std::string& profile);

[[nodiscard]] std::string verdict(const Answers& answers, const std::vector<Model>& models);
[[nodiscard]] std::string networks_part(const Answers& answers, const std::vector<CaseBreakEven>& found);
[[nodiscard]] std::string stages_part(const std::vector<Model>& models);

/// "30.2 ms", "41 µs".
[[nodiscard]] std::string duration(Seconds time);
/// "-3.1 %": less is negative.
[[nodiscard]] std::string change(double ratio);

}  // namespace rubato::layer_study
