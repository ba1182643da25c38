// What a training will have cost when it is over, after two complete epochs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyse/footprint.h"
#include "analyse/summary.h"

namespace rubato::analyse {

inline constexpr double kForecastConfidence = 0.95;

/// What one complete epoch cost. `late_…`: per iteration over the second half of its iterations, which a
/// warm-up or a compilation in the first does not touch; absent where there were too few.
struct EpochCost {
  double seconds = 0;
  double joules = 0;  // of all GPUs of the job
  std::optional<double> late_seconds;
  std::optional<double> late_joules;
  /// Since the end of the epoch before: evaluations, checkpoints. The first epoch's are not asked for.
  double seconds_before = 0;
  double joules_before = 0;
};

/// A figure and its 95 % interval.
struct Outlook {
  double value = 0;
  std::optional<Interval> interval;
  std::string why_no_interval;  // a clause
};

struct Forecast {
  std::int64_t epochs_done = 0;
  std::optional<std::int64_t> epochs_planned;  // absent: the program did not say; the totals then are, too
  bool first_left_out = false;                 // it was slower beyond noise
  bool apportioned = false;                    // epochs are too short for their energy to be measured
  Kind kind = Kind::measured;                  // of the energies it rests on
  Outlook epoch_seconds;                       // of one more epoch
  Outlook epoch_joules;
  std::optional<Outlook> total_seconds;  // of the whole training, start-up included
  std::optional<Outlook> total_joules;
  std::optional<Outlook> total_cost;  // in the factors' currency
  std::string method;
};

/// `seconds_so_far` and `joules_so_far`: from the begin of the run to the end of the last epoch in `epochs`.
/// The rest of the training is taken as one more draw from epochs like those seen, each with what lies before
/// it: they share their drift, so more of them does not narrow it. The last epoch's end is the end. Error:
/// not_found with fewer than two epochs.
[[nodiscard]] Result<Forecast> forecast_of(const std::vector<EpochCost>& epochs,
                                           std::optional<std::int64_t> planned, double seconds_so_far,
                                           double joules_so_far);

/// Of a run that goes on or was cut short: the epochs of its last training.
[[nodiscard]] Result<Forecast> forecast_of(const record::RunRecord& run, const Factors& factors = {});

}  // namespace rubato::analyse
