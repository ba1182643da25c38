// One case, judged for every learner.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/noise_floor.h"
#include "experiment/validation.h"
#include "prediction_evidence/asked.h"
#include "prediction_evidence/choice_floor.h"
#include "prediction_evidence/floors.h"

namespace rubato::prediction_evidence {

struct Judged {
  std::string learner;
  Result<experiment::Validation> found;
};

struct Outcome {
  Case of;
  experiment::NoiseFloor floor;
  ChoiceFloor choices;
  std::optional<Neighbours> defaults;  // without probes; others of the same group too
  std::optional<Neighbours> hindsight;
  std::optional<Neighbours> informed;  // where everything is learnt from another table
  std::vector<Judged> judged;
};

/// The tables lie in `tables`. Learners this build lacks are left out.
[[nodiscard]] Result<Outcome> judge(const Case& of, const std::filesystem::path& tables);

}  // namespace rubato::prediction_evidence
