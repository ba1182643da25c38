// One reading as JSON (docs/formats.md#rubatotop1).
#pragma once

#include "cli/top/state.h"
#include "report/value.h"

namespace rubato::cli::top {

[[nodiscard]] report::Value top_json(const State& state);

}  // namespace rubato::cli::top
