// What a sweep says: each setting against the default, with intervals, after the baseline's drift is taken
// out.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "experiment/sweep_measurement.h"

namespace rubato::experiment {

/// Student's t with P(T <= t) = probability, for the degrees of freedom given (analyse/student_t.h has one).
using TQuantile = double (*)(double probability, double degrees);

/// A quotient over the default, with its 90 % confidence interval where the scatter is known.
struct Quotient {
  double value = 1.0;
  std::optional<double> low;
  std::optional<double> high;
};

/// In the mean, with the drift of the baseline taken out where one was found.
struct SweptSetting {
  predict::KnobPoint at;              // empty: the default
  unsigned runs = 0;                  // used
  std::vector<std::string> not_used;  // why, of each that is not
  std::vector<std::string> notes;     // each once
  Seconds time;
  Joules energy;        // of all boards
  unsigned boards = 1;  // how many the latest run computed on
  Quotient time_over_default;
  Quotient energy_over_default;
  Quotient edp_over_default;
  Reached reached;  // of the latest run
  std::map<std::string, double> features;

  [[nodiscard]] bool is_default() const { return at == predict::KnobPoint{}; }
  [[nodiscard]] Watts power() const { return energy / time; }
};

/// Of one stretch of a sweep that was interrupted, or all of it: as a fraction, from its first run to its
/// last.
struct BaselineDrift {
  unsigned session = 0;
  std::size_t controls = 0;
  std::optional<double> time;  // absent: fewer than four controls
  std::optional<double> energy;
  bool time_taken_out = false;  // more than scatter would explain (5 %, two-sided)
  bool energy_taken_out = false;
};

/// How far apart the logarithms of two settings' figures have to be to be told apart: half a 90 % interval of
/// their difference, for any two of SweepSummary::settings.
struct HalfWidths {
  std::size_t settings = 0;
  std::vector<double> all;  // row by row; empty: the scatter is not known

  [[nodiscard]] std::optional<double> between(std::size_t a, std::size_t b) const;
};

struct SweepSummary {
  std::vector<SweptSetting>
      settings;                    // the default first, then as they were first measured; each has a used run
  std::vector<SweptSetting> lost;  // no run of them can be used
  std::vector<BaselineDrift> drift;  // of each stretch with a usable control run; no other is used
  std::size_t stretches = 1;         // in which anything was measured, used or not
  HalfWidths time_apart;
  HalfWidths energy_apart;
  HalfWidths edp_apart;
  double time_scatter = 0;  // relative standard deviation of one run
  double energy_scatter = 0;
  double degrees = 0;  // of freedom behind the scatter; 0: it is not known
  Kind kind = Kind::measured;
};

/// Those in which a control run can be used. What others have measured cannot be compared.
[[nodiscard]] std::set<unsigned> sessions_with_control(std::span<const SweepMeasurement> measured);

/// unavailable: no control run can be used, so there is nothing to compare with.
[[nodiscard]] Result<SweepSummary> summarise_sweep(std::span<const SweepMeasurement> measured,
                                                   TQuantile quantile);

}  // namespace rubato::experiment
