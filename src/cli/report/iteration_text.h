// Sections of a run's report about the iteration: how it was found, how sure that is, when the job changed,
// and what the counters told.
#pragma once

#include <string>

#include "analyse/iteration_view.h"
#include "cli/report/page.h"

namespace rubato::cli {

/// "0.412 s ± 0.30 %, from kernels (99 % sure)", "none was found in telemetry (97 % sure)".
[[nodiscard]] std::string iteration_text(const IterationEstimate& estimate);
/// "99 % sure", "likely, 85 % sure", "uncertain, 60 % sure", "a guess, 30 % sure".
[[nodiscard]] std::string sureness_text(double confidence);
/// "250 kernels a second ± 10.0 % (97 % sure)".
[[nodiscard]] std::string rate_text(const ProgressRate& rate);

/// `brief`: what everybody wants to know, in one or two lines. Nothing where the record tells nothing.
void iteration_view_text(Page& page, const record::RunRecord& run, bool brief);
/// When the job did something else, and what the counters told; nothing where neither was.
void shifts_text(Page& page, const record::RunRecord& run);
void counters_text(Page& page, const record::RunRecord& run);

}  // namespace rubato::cli
