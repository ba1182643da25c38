// What the commands offer alike that start runs of their own which set something: `sweep`, `evidence`.
#pragma once

#include <CLI/CLI.hpp>

namespace rubato::cli {

/// `run`: the request each of those runs is started with.
template <class Run>
void add_writing_options(CLI::App& command, Run& run) {
  command
      .add_option(
          "--found-sm-clock", run.wanted.found_sm_clock,
          "the SM clock lock that is in force now, to be put back after each run, or that there is none")
      ->type_name("MIN:MAX|none");
  command.add_flag("--accept-unrestored", run.accept_unrestored,
                   "set even where nothing could put it back after a kill");
  command.add_flag("--allow-shared", run.allow_shared, "set even where other programs compute on the GPU");
  auto* sudo = command.add_flag("--sudo", run.sudo, "start the guards, and only the guards, through sudo");
  command.add_flag("--as-root", run.as_root, "under sudo: stay root")->excludes(sudo);
}

}  // namespace rubato::cli
