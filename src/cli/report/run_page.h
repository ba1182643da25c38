// Runs as HTML pages: the documents of `show --json` and `compare --json` with what their charts are drawn
// from.
#pragma once

#include <cstddef>
#include <functional>

#include "analyse/compare.h"
#include "analyse/footprint.h"
#include "report/html_page.h"

namespace rubato::cli {

/// After each GPU and meter whose series are packed.
using PageProgress = std::function<void(std::size_t done, std::size_t all)>;

[[nodiscard]] Status write_run_page(const analyse::Side& run, const analyse::Factors& factors,
                                    report::Sink& to, const PageProgress& progress = {});
[[nodiscard]] Status write_compare_page(const analyse::Side& a, const analyse::Side& b,
                                        const analyse::Comparison& comparison, report::Sink& to);

}  // namespace rubato::cli
