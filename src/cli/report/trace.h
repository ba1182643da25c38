// A run record as a trace for Perfetto: what was drawn as lines of numbers, what the program and its GPU did
// as bars above the same axis.
#pragma once

#include "base/result.h"
#include "cli/report/series.h"
#include "report/rows.h"

namespace rubato::cli {

/// Chrome's trace-event JSON (report/trace_events.h), read from the record as it is written out.
[[nodiscard]] Status write_trace(const SeriesReader& reader, report::Sink& to);

}  // namespace rubato::cli
