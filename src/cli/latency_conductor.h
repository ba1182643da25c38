// Carries a study of latencies out on one open GPU: a load of its own, a lease, readings as quick as they
// come, and everything put back at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/gpus.h"
#include "cli/guarding.h"
#include "cli/sweep_child.h"
#include "experiment/latency/latency_file.h"
#include "experiment/latency/study.h"

namespace rubato::cli {

struct LatencyOptions {
  std::string pairs;  // a number, or "900:1500,1500:900"; empty: the usual ones
  unsigned repeats = 10;
  bool memory_clocks = false;
  std::string load = "fp32";  // a micro-benchmark of `rubato calibrate`
  std::string found_sm_clock;
  std::uint64_t seed = 1;
  bool dry_run = false;
  bool sudo = false;
  bool accept_unrestored = false;
};

/// What would be timed on this GPU, and within which clocks.
struct LatencyTarget {
  device::ClockTable table;
  predict::Clocks at;             // the memory clock of SM pairs, and the SM clock of memory pairs
  std::vector<Megahertz> memory;  // that `at.sm` is legal with, ascending; empty: they are not timed
};
/// not_supported: this GPU cannot lock what is asked for.
[[nodiscard]] Result<LatencyTarget> latency_target(device::Gpu& gpu, bool memory_clocks);
/// With SM clocks up to `highest`.
[[nodiscard]] Result<experiment::StudyPlan> study_plan(const LatencyOptions& options,
                                                       const LatencyTarget& target, Megahertz highest,
                                                       const SensorFacts& sensor);

struct LatencyEnd {
  Result<experiment::LatencyTable> table = fail(ErrorCode::unavailable, "nothing was timed");
  std::vector<std::string> notes;
  std::vector<RestorationReport> restored;
};

/// `channel`: to a guard that was started for this GPU alone.
[[nodiscard]] LatencyEnd conduct_latency(const LatencyOptions& options, const LatencyTarget& target,
                                         OpenGpus& open, std::unique_ptr<wire::Channel> channel,
                                         conduct::Rescue rescue, Interrupts& interrupts, bool quiet);

}  // namespace rubato::cli
