// What the energy of a run belongs to: epochs, iterations, phases, the user's windows, and what lies between.
// Energy is measured for stretches of at least 50 sensor updates and apportioned below; one figure is never
// made of both. For each source iterations and gaps add up to the run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyse/sources.h"
#include "analyse/timeline.h"

namespace rubato::analyse {

/// Energy of several stretches: those that were measured, and those that were apportioned, apart.
struct SplitEnergy {
  std::optional<Figure> measured;
  std::optional<Figure> apportioned;
};

/// An epoch or a window of the user.
struct SpanEnergy {
  Span span;
  std::int64_t iterations = 0;                // that began in it
  std::optional<Seconds> iteration_time;      // mean
  std::vector<std::optional<Figure>> energy;  // per source
};

/// All stretches of one phase.
struct PhaseEnergy {
  std::uint64_t id = 0;
  std::string name;
  std::int64_t times = 0;
  Seconds time;  // together, on the host
  /// Per source. Empty for phases that only launch work (forward, backward, …): the GPU runs it later.
  std::vector<SplitEnergy> energy;
};

struct Spread {
  double mean = 0.0;
  double median = 0.0;
  double deviation = 0.0;  // standard, between iterations, or between groups of them
};

/// Energy of one iteration at one source, over groups of iterations long enough to be measured.
struct IterationEnergy {
  std::optional<Spread> joules;
  Kind kind = Kind::measured;
  bool apportioned = false;  // no group was long enough: mean only, deviation unknown and zero
  std::int64_t groups = 0;
  double iterations_per_group = 0.0;
  double band_calibration = 0.0;  // half width, J
  double band_sampling = 0.0;     // half width of the mean, J
  std::string why_not;            // where there is none
};

struct IterationSummary {
  std::int64_t count = 0;
  Spread seconds;
  double p05 = 0.0;  // s
  double p95 = 0.0;
  std::vector<IterationEnergy> energy;  // per source
};

/// One row of the sum: all stretches of the run with one label.
struct Part {
  std::string
      label;  // "start-up", "iterations", "evaluation", "checkpoint", "between epochs", "pause", "end"
  std::int64_t times = 0;
  Seconds time;
  std::vector<SplitEnergy> energy;  // per source
};

/// The sum of all parts of one source against the run.
struct Balance {
  std::optional<Joules> run;          // the record's own figure, or, without an end, over the samples
  std::optional<Joules> measured;     // of the parts
  std::optional<Joules> apportioned;  // of the parts
  std::optional<Joules> residual;     // run - measured - apportioned
  /// Of the parts: what the run's own figure and the samples disagree by at the run's edges, where they see
  /// different readings. Inside the band it belongs to the end, or to the start-up where there is none.
  std::optional<Joules> settled;
  Joules band_sampling;  // of the run: what the residual may be
  Seconds time;          // of the parts, as far as the source tells of them
};

struct Parts {
  std::vector<SourceFacts> sources;
  std::vector<SpanEnergy> epochs;
  std::vector<SpanEnergy> windows;
  std::vector<PhaseEnergy> phases;
  std::optional<IterationSummary> iterations;
  std::vector<Part> rows;        // in the order in which they come first
  std::vector<Balance> balance;  // per source
};

[[nodiscard]] Parts parts_of(const record::RunRecord& run, const Timeline& timeline,
                             const std::vector<EnergySource>& sources);

}  // namespace rubato::analyse
