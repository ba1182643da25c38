// Two runs beside each other: what each cost, how far they differ, what else was different, and whether the
// comparison is sound.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyse/batches.h"
#include "analyse/summary.h"

namespace rubato::analyse {

/// Below so many standard errors a difference is not told from none.
inline constexpr double kDistinguishable = 2.0;

/// What a difference's range is made of.
enum class Range {
  none,          // single figures whose error nobody knows
  confidence,    // 90 % interval, from batches of iterations
  sensor_bands,  // the sensor's error bands at their worst; how runs scatter is not in it
};
[[nodiscard]] std::string_view name_of(Range range);

/// B against A, as a fraction of A: -0.25 is a quarter less.
struct Difference {
  double fraction = 0.0;
  Range range = Range::none;
  std::optional<Interval> interval;
  std::string why_no_interval;          // a clause, where absent
  std::optional<bool> distinguishable;  // absent: no error is known
};

struct Metric {
  std::optional<double> a;  // seconds, joules, watts or joule seconds
  std::optional<double> b;
  std::optional<Difference> difference;
  std::string why_no_difference;  // a clause, where absent
};

/// Something that is not the same in both runs.
struct Fact {
  std::string name;  // "gpu", "driver", "found_setting", …
  std::string a;
  std::string b;
};

struct Warning {
  std::string code;  // "different_gpu_model", …
  std::string sentence;
};

/// One run as the comparison takes it.
struct Side {
  const record::RunRecord& run;
  const Summary& summary;
  bool running = false;  // its rubato is still at work
};

/// What a run cost per iteration where it settled: at the chosen setting, or where none was held at the found
/// one, warm-up left out.
struct SettledCost {
  std::optional<CostPerIteration> cost;
  std::string why_not;  // a clause, where absent
  Setting setting;      // of the first hold stretch; empty: as found
};
[[nodiscard]] SettledCost settled_cost(const record::RunRecord& run);

struct Comparison {
  // Whole runs, start and search included.
  Metric time;
  Metric energy;
  Metric mean_power;
  Metric energy_delay;
  // Per iteration, where the runs settled.
  Metric iteration_time;
  Metric iteration_energy;
  Metric iteration_energy_delay;
  Setting settled_a;
  Setting settled_b;
  std::vector<Fact> differing;
  std::vector<Warning> warnings;
};

[[nodiscard]] Comparison compare(const Side& a, const Side& b);

/// What differs besides the figures, and what makes the comparison unsound.
[[nodiscard]] std::vector<Fact> differing_facts(const Side& a, const Side& b);
[[nodiscard]] std::vector<Warning> warnings_of(const Side& a, const Side& b);

/// True where both runs were measured by the same sensors, calibrated alike: their error then cancels.
[[nodiscard]] bool same_sensors(const Side& a, const Side& b);

}  // namespace rubato::analyse
