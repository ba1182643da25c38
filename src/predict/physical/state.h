// What was learned, as JSON and back.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "predict/physical/learned.h"

namespace rubato::predict::physical {

[[nodiscard]] nlohmann::json to_json(const Learned& learned);
/// corrupt: a member that is missing, of another shape, or not a finite number.
[[nodiscard]] Result<Learned> from_json(const nlohmann::json& state);

}  // namespace rubato::predict::physical
