// docs/evidence/prediction.md, on standard output.
#pragma once

#include <vector>

#include "prediction_evidence/outcome.h"

namespace rubato::prediction_evidence {

void print_page(const std::vector<Outcome>& asked, const std::vector<Outcome>& told);

}  // namespace rubato::prediction_evidence
