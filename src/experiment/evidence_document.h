// rubato.evidence/1: what half an hour on one GPU has shown, for others to read. Complete, or it says which
// part is missing and why. docs/formats.md describes it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "core/kind.h"
#include "experiment/evidence_plan.h"
#include "experiment/evidence_switches.h"
#include "experiment/sweep_measurement.h"
#include "experiment/sweep_summary.h"

namespace rubato::experiment {

struct MissingPart {
  std::string part;  // "control blocks", "sm-clock"
  std::string why;
};

struct KernelEvidence {
  std::string kernel;
  std::vector<SweepMeasurement> sweep;
  std::vector<SweepMeasurement> blocks;  // four by four; empty but for the first kernel
};

struct WatchedSwitches {
  std::string kernel;
  std::optional<Seconds> resolution;
  std::vector<SwitchTimes> each;
};

struct Evidence {
  std::string date;  // day alone: "2026-11-22"
  std::string rubato_version;
  double clock_rate = 1;  // above 1: a simulated world that runs faster than the wall
  Seconds asked;          // --minutes
  Seconds took;           // on the GPU's clock
  Kind kind = Kind::measured;
  std::vector<KernelEvidence> kernels;
  std::optional<WatchedSwitches> switches;
  std::optional<Watts> limit_before;
  std::optional<Watts> limit_after;
  std::vector<MissingPart> missing;
};

/// `gpu`: what the driver tells of the board, put in as it is. Names and identifiers are the caller's to take
/// out (evidence_scrub.h).
[[nodiscard]] nlohmann::ordered_json evidence_json(const Evidence& evidence, const EvidencePlan& plan,
                                                   const nlohmann::ordered_json& gpu, TQuantile quantile);

}  // namespace rubato::experiment
