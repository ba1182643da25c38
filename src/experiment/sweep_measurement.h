// What one measured setting of a sweep has cost, and whether the setting really was in force while it was
// measured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "core/kind.h"
#include "predict/curve.h"
#include "record/reader.h"

namespace rubato::experiment {

/// Medians of what the driver showed under load.
struct Reached {
  std::optional<Megahertz> sm_clock;
  std::optional<Megahertz> memory_clock;
  std::optional<Watts> enforced_limit;
  std::vector<std::string> limiters;  // that held the clock down in at least a tenth of the readings
  bool operator==(const Reached&) const = default;
};

/// Time and energy are per unit of work: the whole command, or an iteration.
struct SweepMeasurement {
  predict::KnobPoint at;  // as asked; without any knob: as the GPU was found
  unsigned repeat = 0;
  bool warmup = false;   // measured before the GPU was warm: shown, never used
  unsigned session = 0;  // of an interrupted sweep: which of its stretches
  std::string run_id;
  Seconds time;
  Joules energy;                // of all boards that the command computed on
  unsigned boards = 1;          // how many these are
  double energy_band = 0;       // relative half width, of sampling
  std::int64_t iterations = 0;  // counted in it; 0: none were seen
  Kind kind = Kind::measured;
  std::optional<Celsius> temperature;          // at the end, under load
  std::optional<Celsius> temperature_halfway;  // the same
  Reached reached;
  std::string not_used;            // why; empty: it is used
  std::vector<std::string> notes;  // true and worth knowing; it is used all the same
  std::map<std::string, double> features;

  [[nodiscard]] bool control() const { return at == predict::KnobPoint{}; }
  [[nodiscard]] bool used() const { return !warmup && not_used.empty(); }
  bool operator==(const SweepMeasurement&) const = default;
};

/// One run of the whole command at `at`.
[[nodiscard]] SweepMeasurement measurement_of(const record::RunRecord& run, const predict::KnobPoint& at);

/// Mean of the run's counter windows, named as in sweep tables; empty where nobody counted.
[[nodiscard]] std::map<std::string, double> mean_features(const record::RunRecord& run);

}  // namespace rubato::experiment
