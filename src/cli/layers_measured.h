// Device time of each layer in a recorded run, from the kernels launched in it.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "core/kind.h"
#include "core/layer_demand.h"
#include "record/reader.h"

namespace rubato::cli {

/// Per iteration and process. A layer is entered by the program that marks it, mostly in its forward pass:
/// what runs on behalf of it elsewhere is not in it.
struct MeasuredLayers {
  std::string run_id;
  std::string gpu;
  Kind kind = Kind::measured;
  double iterations = 0;                // that were recorded, parts of them counted as parts
  std::map<std::string, Seconds> time;  // by layer, or by phase where the program marks no layer
};

/// not_found says what the record lacks.
[[nodiscard]] Result<MeasuredLayers> measured_layers(const record::RunRecord& run);

}  // namespace rubato::cli
