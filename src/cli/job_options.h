// What `run`, `measure` and `calibrate-meter` offer alike: meters beside the GPUs, hooks in the job,
// counters.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/hooks.h"
#include "simgpu/trainer/kernel_writer.h"

namespace rubato::cli {

struct JobOptions {
  std::vector<std::string> meters;
  bool no_hooks = false;
  std::optional<std::string> kernels;
  std::string counters = "auto";
  [[nodiscard]] HookWishes hooks() const { return {!no_hooks, kernels}; }
};

inline CLI::Option* add_meter_option(CLI::App& command, JobOptions& options) {
  return command
      .add_option("--meter", options.meters,
                  "another power meter beside the GPUs, as in rapl or snmp:rack; may be given several times")
      ->type_name("SPEC")
      ->allow_extra_args(false);
}

/// What the library in the job would refuse, where nobody might see it, is refused before the job starts.
inline std::string why_no_cycle(const std::string& text) {
  if (sim_trainer::parse_kernel_duty(text)) return {};
  return "`" + text + "` is no cycle of recording; one is for example 2s/60s, 2 s of every 60 s, or off";
}

inline void add_job_options(CLI::App& command, JobOptions& options) {
  add_meter_option(command, options);
  command.add_flag("--no-hooks", options.no_hooks, "leave the job's Python as it is (as RUBATO_HOOKS=off)");
  command
      .add_option("--kernels", options.kernels,
                  "record CUDA kernels for part of the time, as in 2s/60s; costs time while it records")
      ->type_name("CYCLE")
      ->expected(1)
      ->check(why_no_cycle);
  command
      .add_option("--counters", options.counters,
                  "who reads counters when the iteration is found or changes: auto, off, or one that "
                  "`rubato doctor` names")
      ->type_name("PROVIDER")
      ->capture_default_str();
}

}  // namespace rubato::cli
