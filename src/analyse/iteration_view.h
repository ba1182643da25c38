// What was known of the iteration when the run was over: the source in use, what the others said to it, and
// how it came to that.
#pragma once

#include <optional>
#include <vector>

#include "record/reader.h"

namespace rubato::analyse {

struct IterationView {
  std::optional<record::IterationStatement> in_use;  // the latest; absent: no source was sure enough
  std::optional<TimePoint> found;                    // when a period was in use for the first time
  /// Statements in use at which source, relation or periodicity became another.
  std::vector<record::IterationStatement> course;
  std::vector<record::IterationStatement> others;  // the latest of each other source, best source first
  std::optional<record::RateStatement> rate;       // the latest, where no period is in use
};

/// Absent where nothing was stated: older records, and runs too short to tell.
[[nodiscard]] std::optional<IterationView> iteration_view(const record::RunRecord& run);

/// When autotuning was over for the last time; absent where it was never seen to be, or had begun again.
[[nodiscard]] std::optional<record::Decision> tuning_over(const record::RunRecord& run);

}  // namespace rubato::analyse
