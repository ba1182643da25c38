// Models of GPUs that others measured, learnt from their published sweeps and carried in the program:
// priors/.
#pragma once

#include <span>
#include <string_view>

namespace rubato::experiment {

struct ShippedModel {
  std::string_view name;  // of the file in priors/, without its suffix
  std::string_view text;  // as parse_model_file() takes it
};

[[nodiscard]] std::span<const ShippedModel> shipped_models();

}  // namespace rubato::experiment
