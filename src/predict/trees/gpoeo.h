// GPOEO's own arrangement of models, as its public code has it (github.com/ruixueqingyang/GPOEO,
// EPOptXGBoost.py, commit 37d5a34): a reference to compare with, not a model to use.
#pragma once

#include "predict/model.h"

namespace rubato::predict::trees {

/// "gpoeo": relative energy and relative time, 1 at the default, by XGBoost with its own defaults (GPOEO
/// published no others) from a clock over the reference clock and the counters, held below 99.99 %. Three
/// bands of SM clocks have two models each; memory clocks have two more, and both are multiplied where both
/// clocks move, as GPOEO chooses them apart. The bands are the published edges over the published reference
/// clock, so that they mean the same share of another GPU's range. It learns nothing from probes, as GPOEO's
/// models do not. Differences: whatever counters the table has are its inputs (GPOEO: 16 profiler metrics of
/// one GPU); the memory models are used (the published code loads them and then asks the lowest SM band); the
/// intervals are ours. invalid_argument: without the SM clock, with the power limit, which it never sets, or
/// without counters.
[[nodiscard]] const Learner& gpoeo_learner();

}  // namespace rubato::predict::trees
