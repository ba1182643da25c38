// What to set for a workload that was measured at its default, by a model that says on which GPUs it has
// learnt.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/objective.h"
#include "plan/choice.h"
#include "plan/price.h"
#include "predict/model.h"

namespace rubato::experiment {

/// Least probability that the bound holds, where the user names no other: advice is acted upon once, and
/// nobody watches whether it held.
inline constexpr plan::Caution kUsualCaution{.confidence = 0.8};

/// Fractions saved: a 90 % interval.
struct SavingInterval {
  double low = 0;
  double high = 0;
};

/// Of a model, what its predictions do not tell.
struct ModelFacts {
  std::string name;
  std::vector<std::string> gpus_seen;
  /// That varied where it learnt; the others it never saw, and is not to be told of. Empty: any.
  std::vector<Knob> knobs{};
  /// Highest limit of the boards it saw: a V100 of 300 W is another board than one of 250 W. Absent: any.
  std::optional<Watts> highest_limit;
  /// What its choices saved on GPUs that were left out when it learnt; absent: it saw too few to tell.
  std::optional<SavingInterval> on_unseen_gpus;
};

struct AdviceRequest {
  predict::Known known;
  std::vector<predict::KnobPoint> candidates;
  Goal goal;
  plan::Caution caution;
};

struct Advice {
  bool gpu_seen = false;
  std::string refused;  // no number is given, and why; empty: there is one
  plan::Choice choice;
  std::optional<predict::KnobPoint> at;  // the setting chosen; nothing: stay
  plan::Price price;                     // of the board, and of the host where its watts are known
  predict::Prediction believed;          // of the candidates; empty where refused
};

/// Whether a board by the driver's name ("Tesla V100-PCIE-16GB") is what a table calls "V100". An "RTX 3080
/// Ti", a laptop's "RTX 4090" or an "RTX 6000 Ada" is not the board of the shorter name.
[[nodiscard]] bool same_board(std::string_view in_table, std::string_view by_driver);

/// invalid_argument: one of them the model never saw varied.
[[nodiscard]] Status check_knobs(const ModelFacts& facts, std::span<const Knob> wanted);

/// The candidates are of knobs that check_knobs() found fine.
[[nodiscard]] Result<Advice> advise(const predict::Model& model, const ModelFacts& facts,
                                    const AdviceRequest& request);

}  // namespace rubato::experiment
