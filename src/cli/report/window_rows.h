// The windows and epochs of a run as CSV: a row for each of them and each source of energy.
#pragma once

#include "analyse/summary.h"
#include "report/rows.h"

namespace rubato::cli {

/// Columns: what (epoch, window), name (of an epoch its number), begin_s and end_s since the run's begin,
/// cut_short (0 or 1), iterations that began in it, iteration_s (their mean), source, energy_j,
/// band_sampling_j, band_calibration_j, kind, apportioned (0 or 1), unseen_s. What could not be told is
/// empty.
[[nodiscard]] Status write_windows(const analyse::Summary& summary, report::Sink& to);

}  // namespace rubato::cli
