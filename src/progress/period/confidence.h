// How sure a verdict is: the chance that it holds, from a few figures of the evidence.
#pragma once

#include <optional>
#include <string>

#include "core/iteration_estimate.h"
#include "progress/period/look.h"

namespace rubato::progress {

/// What the chance is read from; all without unit.
struct Evidence {
  double cycles = 0;      // seen
  double good = 0;        // share of stretches alike
  double matched = 0;     // likeness of single cycles with the template
  double agreement = 0;   // |followed / correlated period - 1|
  double updates = 0;     // sensor updates in a cycle
  double continuity = 0;  // correlation from one update to the next: low where the shape is not resolved
  double covered = 0;     // share of the trace in undisturbed cycles
  double wander = 0;      // standard error of the median length, as a fraction
  double chance = 0;      // by the ranking of the candidates
  double smooth = 0;      // share of the updates' variance in a few harmonics: an alias has few
  PeriodRelation relation = PeriodRelation::exact;  // as the sensor's updates show it
};

[[nodiscard]] Evidence evidence_of(const Look& look, double period_s);
[[nodiscard]] double confidence_of(const Evidence& evidence);

/// Chance that there is no period, `seconds` of trace having shown none.
[[nodiscard]] double confidence_in_none(const Look& look, double seconds);

}  // namespace rubato::progress
