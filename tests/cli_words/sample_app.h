// A command line like rubato's, small enough to see at once.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace rubato::cli::testing_data {

struct SampleApp {
  SampleApp() {
    app.set_help_flag("-h,--help", "this page");
    app.require_subcommand(1);
    auto* run = app.add_subcommand("run", "run a command at a setting");
    run->add_option("--power-limit", watts, "power limit of every GPU")->type_name("W");
    run->add_option("--sm-clock", megahertz, "lock the SM clock")->type_name("MHZ");
    run->add_flag("--json", json, "the report as JSON");
    run->add_flag("-q,--quiet", quiet, "errors only");
    auto* exported = app.add_subcommand("export", "a run's series");
    exported->add_option("run", name, "a run id")->type_name("RUN")->default_str("last");
    exported->add_option("--format", format, "csv or json")
        ->type_name("FORMAT")
        ->required()
        ->check(CLI::IsMember(std::vector<std::string>{"csv", "json"}));
    auto* sim = app.add_subcommand("sim", "simulated GPUs");
    sim->require_subcommand(1);
    auto* train = sim->add_subcommand("train", "train a network");
    train->add_option("workload", name, "what to train")->type_name("WORKLOAD")->required();
    train->add_option("--iterations", iterations, "how many")->check(CLI::PositiveNumber);
    train->add_option("--repeats", repeats, "how often")->check(CLI::Range(1, 1000));
  }

  CLI::App app{"lowers the energy of GPU training", "rubato"};
  double watts = 0;
  double megahertz = 0;
  int iterations = 0;
  int repeats = 1;
  bool json = false;
  bool quiet = false;
  std::string name;
  std::string format;
};

}  // namespace rubato::cli::testing_data
