// What has to be known of the GPU before evidence is gathered and once it is, asked by child processes so
// that this one never opens a driver.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/run.h"
#include "cli/sweep_child.h"
#include "core/kind.h"
#include "experiment/calibrate/settings.h"
#include "experiment/evidence_document.h"

namespace rubato::cli {

struct EvidenceFacts {
  std::string uuid;
  std::string pci_bus_id;
  std::string name;  // of the board
  Kind kind = Kind::measured;
  double clock_rate = 1;  // above 1: a simulated world that runs faster than the wall
  std::optional<Seconds> sensor_period;
  experiment::KnobRanges ranges;  // of what may be set here
  std::optional<Watts> found_limit;
  std::vector<experiment::MissingPart> left_out;  // knobs
};

/// Knobs that rubatod does not grant, and why.
using RefusedKnobs = std::vector<std::pair<Knob, Error>>;

/// Errors: more GPUs than one, no knob that may be set, nothing that would put it back.
[[nodiscard]] Result<EvidenceFacts> ask_evidence_facts(Interrupts& interrupts, const std::string& gpu_list,
                                                       const RunOptions& options,
                                                       const RefusedKnobs& refused);

/// The board as `rubato devices --json` tells of it, without what names this very one.
[[nodiscard]] Result<nlohmann::ordered_json> ask_board(Interrupts& interrupts, const std::string& gpu_list,
                                                       bool as_root);

/// What must not stand in a file for others: of this user, this machine and this board.
[[nodiscard]] std::vector<std::string> private_names(const EvidenceFacts& facts);

}  // namespace rubato::cli
