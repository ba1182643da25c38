// The tables of a run record that say what the job did: marks, names, iterations, kernels.
#pragma once

#include <cstdint>

#include "record/reader.h"
#include "record/reading.h"

namespace rubato::record {

void read_progress(Reading& read, std::int64_t version, RunRecord& out);

}  // namespace rubato::record
