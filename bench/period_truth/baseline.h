// The trivial detector that every other has to beat: the highest peak of the autocorrelation of the power,
// read every 0.1 s, looked at each 10 s. It never says that there is no period.
#pragma once

#include <memory>

#include "progress/telemetry.h"

namespace rubato::period_truth {

[[nodiscard]] std::unique_ptr<progress::PeriodDetector> make_baseline(const progress::TelemetryFacts& facts);

}  // namespace rubato::period_truth
