// What a model file holds, and what a model predicts: as pages and as rubato.model_info/1 and
// rubato.prediction/1.
#pragma once

#include <string>

#include "cli/report/page.h"
#include "experiment/model_file.h"
#include "report/value.h"

namespace rubato::cli {

[[nodiscard]] report::Object model_json(const std::string& path, const experiment::ModelFile& model);
void say_model(Page& page, const std::string& path, const experiment::ModelFile& model);

struct PredictionReport {
  std::string path;
  const experiment::ModelFile* model = nullptr;
  std::string workload;  // empty: the default was typed
  predict::Known known;
  predict::Prediction predicted;
  std::vector<predict::Observed>
      measured;  // what the table says of the same settings; empty: nothing is known
};

/// The counters that the model learned with, that are not known of this workload, and that it went on
/// without.
[[nodiscard]] std::vector<std::string> missing_counters(const PredictionReport& report);

[[nodiscard]] report::Object prediction_json(const PredictionReport& report);
void say_prediction(Page& page, const PredictionReport& report);

}  // namespace rubato::cli
