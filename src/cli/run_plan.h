// `rubato run --plan FILE`: the plan as it was asked for, whether it is one for these GPUs, and who runs it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/governing.h"
#include "cli/gpus.h"
#include "cli/wanted.h"
#include "govern/layer_plan/plan_strategy.h"
#include "govern/layer_plan/switch_times.h"
#include "plan/layers/layer_plan.h"

namespace rubato::cli {

struct AskedPlan {
  std::string file;
  plan::LayerPlan plan;
  double max_slowdown = 0;  // the stricter of the plan's and the one asked for
  Watts host;
};

/// Reads the file and compares it with what else was typed. Errors: what cannot be read, a setting or a
/// strategy beside the plan, a bound stricter than the plan's.
[[nodiscard]] Result<AskedPlan> read_asked_plan(const std::string& file, const WantedText& wanted,
                                                const GoverningText& governing);

/// The plan's single setting, and the knobs the plan needs.
[[nodiscard]] Wanted wanted_by(const AskedPlan& asked, Wanted wanted);

/// invalid_argument: made for another board or another GPU than these, or with clocks they do not have.
[[nodiscard]] Status plan_fits(const AskedPlan& asked, const OpenGpus& open);

/// With the driver's own clocks: it tells whole megahertz, and a plan may hold the board's half ones.
[[nodiscard]] AskedPlan at_clocks_of(AskedPlan asked, const OpenGpus& open);

/// One sentence; for the record, the terminal and --dry-run.
[[nodiscard]] std::string describe(const AskedPlan& asked);

/// Why only the single setting is held in a run of these GPUs; empty: the plan may run.
[[nodiscard]] std::string why_single_only(const AskedPlan& asked, std::size_t gpus,
                                          const std::map<std::string, std::string>& environment);

[[nodiscard]] std::unique_ptr<govern::Strategy> plan_strategy(const AskedPlan& asked, std::string never,
                                                              bool found_clock_stated, std::uint64_t seed);

[[nodiscard]] govern::SwitchLimits limits_of(const plan::LayerPlan& plan);

/// How kernels are recorded where the user does not say: so that every cycle holds a few whole iterations.
[[nodiscard]] std::string kernel_cycle_for(const plan::LayerPlan& plan);

}  // namespace rubato::cli
