// Runs as HTML pages: the documents of `show --json` and `compare --json` with what their charts are drawn
// from.
#pragma once

#include <filesystem>

#include "analyse/compare.h"
#include "analyse/footprint.h"
#include "report/html_page.h"

namespace rubato::cli {

[[nodiscard]] Status write_run_page(const analyse::Side& run, const analyse::Factors& factors,
                                    report::Sink& to);
[[nodiscard]] Status write_compare_page(const analyse::Side& a, const analyse::Side& b,
                                        const analyse::Comparison& comparison, report::Sink& to);

}  // namespace rubato::cli
