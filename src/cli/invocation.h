// What every subcommand shares: the common options, the command behind `--`, and how a status leaves the
// program.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace rubato::cli {

/// Of rubato itself, when it refuses before a job was started (docs/exit-codes.md).
inline constexpr int kRefused = 125;

struct Invocation {
  std::vector<std::string> command;  // what stood behind "--"
  bool separated = false;            // there was a "--"
  std::string gpu;
  bool json = false;
  bool quiet = false;
  int verbose = 0;
  int status = 0;
};

void add_advise(CLI::App& app, Invocation& invocation);
void add_calibrate(CLI::App& app, Invocation& invocation);
void add_calibrate_meter(CLI::App& app, Invocation& invocation);
void add_devices(CLI::App& app, Invocation& invocation);
void add_doctor(CLI::App& app, Invocation& invocation);
void add_evidence(CLI::App& app, Invocation& invocation);
void add_import(CLI::App& app, Invocation& invocation);
void add_lab(CLI::App& app, Invocation& invocation);
void add_latency(CLI::App& app, Invocation& invocation);
void add_layers(CLI::App& app, Invocation& invocation);
void add_pipeline(CLI::App& app, Invocation& invocation);
void add_measure(CLI::App& app, Invocation& invocation);
void add_model(CLI::App& app, Invocation& invocation);
void add_run(CLI::App& app, Invocation& invocation);
void add_runs(CLI::App& app, Invocation& invocation);
void add_show(CLI::App& app, Invocation& invocation);
void add_sweep(CLI::App& app, Invocation& invocation);
void add_compare(CLI::App& app, Invocation& invocation);
void add_export(CLI::App& app, Invocation& invocation);
void add_completion(CLI::App& app, Invocation& invocation);
void add_help(CLI::App& app, Invocation& invocation);
void add_period(CLI::App& app, Invocation& invocation);
void add_restore(CLI::App& app, Invocation& invocation);
void add_sim(CLI::App& app, Invocation& invocation);
void add_windows(CLI::App& app, Invocation& invocation);

/// --gpu, --json, --quiet, -v on one subcommand.
void add_common(CLI::App& command, Invocation& invocation);

/// Prints the error and remembers the status; returns it.
int refuse(Invocation& invocation, const Error& error, int status = kRefused);

/// The hidden `rubato guard …`: the process that alone writes to GPUs.
int guard_main(int argc, char** argv);

/// The hidden `rubato calibrate-kernel …`: the job of `rubato calibrate` on a real GPU.
int calibrate_kernel_main(int argc, char** argv);

}  // namespace rubato::cli
