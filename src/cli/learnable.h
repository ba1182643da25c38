// What a finished run teaches the next one of the same program, if anything. A pure function of the record.
#pragma once

#include <optional>

#include "analyse/summary.h"
#include "record/learned_store.h"
#include "record/reader.h"

namespace rubato::cli {

/// The setting the run held longest. Nothing where it did not save energy beyond doubt, where nobody knows
/// what it would have cost undisturbed (another program computed on the GPU, somebody else set it, rubato
/// stood back), or where it ended before the search did: the job failed or was interrupted, or a try came
/// last.
[[nodiscard]] std::optional<record::LearnedSetting> learnable(const record::RunRecord& run,
                                                              const analyse::Summary& summary);

}  // namespace rubato::cli
