// What happened in a run beside its decisions and should not be missed, in order of time.
#pragma once

#include <string>
#include <vector>

#include "analyse/summary.h"
#include "record/reader.h"

namespace rubato::cli {

struct Event {
  TimePoint at;
  std::string what;
};

/// Gaps stand in one line per GPU and reason; a GPU's gaps that are short and few are left out. So is a
/// restoration that went well: "put back" says it.
[[nodiscard]] std::vector<Event> worth_knowing(const record::RunRecord& run, const analyse::Summary& summary);

}  // namespace rubato::cli
