// What has to be known of the GPUs before a sweep starts, asked by a child process so that this one never
// opens a driver.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/run.h"
#include "cli/sweep_child.h"
#include "predict/curve.h"

namespace rubato::cli {

struct SweepFacts {
  std::vector<std::string> uuids;
  std::string gpu;                           // "Tesla V100-PCIE-16GB", "2 x …"
  std::string board;                         // the name of them all; empty: they differ
  std::optional<Watts> found_limit;          // the same on all of them
  std::map<std::string, std::string> found;  // what each GPU told: "power limit of GPU 0 (…)" → "140 W"
  std::optional<Megahertz> highest_sm_clock;
  double clock_rate = 1.0;  // above 1: a simulated world that runs faster than the wall
  std::vector<predict::KnobPoint>
      points;  // fitted to what the GPUs have, each once, without the found setting
  std::vector<std::string> notes;
};

/// Errors are those that `run` refuses a command for, and a right that is missing. `may_lack_rights`: that is
/// said in notes instead, because nothing will be set.
[[nodiscard]] Result<SweepFacts> ask_facts(Interrupts& interrupts, const std::string& gpu_list,
                                           const RunOptions& options,
                                           const std::vector<predict::KnobPoint>& grid, bool may_lack_rights);

/// The options with which `run` would be asked for this setting.
[[nodiscard]] RunOptions options_at(RunOptions options, const predict::KnobPoint& point);

}  // namespace rubato::cli
