// Traces as files for `rubato period --trace`, with the truth beside them.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace rubato::period_truth {

/// NNN.csv for each trace, and truth.csv.
[[nodiscard]] Status write_traces(const std::string& folder, std::uint64_t first_seed, std::uint64_t traces);

}  // namespace rubato::period_truth
