// Which model `rubato advise` asks: the one named, one kept for this GPU, or what rubato brings along.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "experiment/advise/advise.h"
#include "predict/model.h"

namespace rubato::cli {

struct AdviceModel {
  std::shared_ptr<const predict::Model> model;
  experiment::ModelFacts facts;
};

struct ModelWish {
  std::string file;   // of `rubato model train`; empty: not named
  std::string table;  // a sweep table to learn from; empty: not named
};

/// Where kept models are looked for: $XDG_STATE_HOME/rubato/models, else ~/.local/state/rubato/models.
[[nodiscard]] Result<std::filesystem::path> kept_models_folder();

/// invalid_argument, not_found, corrupt: what was named cannot be used.
[[nodiscard]] Result<AdviceModel> model_for_advice(const ModelWish& wish, std::string_view gpu,
                                                   std::span<const Knob> knobs, const Goal& goal,
                                                   const plan::Caution& caution = experiment::kUsualCaution);

}  // namespace rubato::cli
