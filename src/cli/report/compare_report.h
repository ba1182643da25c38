// Two runs beside each other, as text and as JSON.
#pragma once

#include <string>

#include "analyse/compare.h"
#include "report/render.h"
#include "report/value.h"

namespace rubato::cli {

/// Schema rubato.compare/1 (docs/formats.md).
[[nodiscard]] report::Value compare_json(const analyse::Side& a, const analyse::Side& b,
                                         const analyse::Comparison& comparison);
[[nodiscard]] std::string compare_text(const analyse::Side& a, const analyse::Side& b,
                                       const analyse::Comparison& comparison,
                                       const report::TextOptions& options = {});

}  // namespace rubato::cli
