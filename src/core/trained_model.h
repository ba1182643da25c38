// What a job trains, as far as it tells: what a plan made for one model is recognised by.
#pragma once

#include <optional>
#include <string>

#include "core/layer_demand.h"

namespace rubato {

struct TrainedModel {
  std::string name;                  // as its framework calls it; may be empty
  std::optional<double> parameters;  // that are trained, each counted once
  std::optional<unsigned> batch;     // samples in one batch on one GPU
  std::optional<Precision> precision;
};

}  // namespace rubato
