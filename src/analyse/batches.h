// Batch means: iterations in a row resemble each other, so single ones are not independent observations;
// batches of whole iterations that last many sensor updates nearly are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyse/sources.h"
#include "analyse/stretch.h"

namespace rubato::analyse {

/// A mean per iteration with what is known of its error.
struct Mean {
  double value = 0.0;
  std::optional<double> relative_error;  // standard error over value
  double degrees = 0.0;                  // of freedom, for Student's t
  std::string why_no_error;              // where absent
};

struct CostPerIteration {
  Mean energy;  // J, of all GPUs
  Mean time;    // s
  std::int64_t iterations = 0;
};

/// Fewer observations than this give no interval.
inline constexpr std::size_t kFewestObservations = 4;

/// Energy times time to this power (EDP: 1, ED2P: 2). Both come from the same batches and are not
/// independent, so their relative errors add as they are: at least as much as under any correlation.
[[nodiscard]] Mean energy_delay(const CostPerIteration& cost, int exponent);

/// Over every stretch given; each has iterations and energy. `sources` are those of the run.
[[nodiscard]] CostPerIteration cost_per_iteration(const record::RunRecord& run,
                                                  const std::vector<EnergySource>& sources,
                                                  const std::vector<Stretch>& stretches);

}  // namespace rubato::analyse
