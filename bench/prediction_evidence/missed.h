// What a captured saving that was not reached consists of: which workloads, what each is worth, and how
// unlikely what happened was to who chose.
#pragma once

#include "prediction_evidence/outcome.h"

namespace rubato::prediction_evidence {

/// For every case whose captured saving falls short of what was asked: the workloads that lose most of it.
void print_missed_savings(const std::vector<Outcome>& asked);

}  // namespace rubato::prediction_evidence
