#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "cli/invocation.h"
#include "device/sim/profile.h"
#include "device/sim/work.h"
#include "device/sim/world.h"
#include "simgpu/trainer/train.h"

namespace rubato::cli {
namespace {

namespace sim = device::sim;

void print_gpus() {
  fmt::print("{:<18} {:<11} {}\n", "PROFILE", "ALIAS", "BOARD");
  for (const auto& profile : sim::list_profiles())
    fmt::print("{:<18} {:<11} {}\n", profile.name, profile.alias, profile.board);
  fmt::print("\nUse one as --gpu sim:ALIAS; two GPUs in one world as --gpu sim:v100,sim:v100.\n");
}

void print_workloads() {
  fmt::print("{:<14} {}\n", "WORKLOAD", "WHAT IT IS");
  for (const auto& workload : sim::list_workloads())
    fmt::print("{:<14} {}\n", workload.name, workload.description);
  fmt::print("\nTrain one with: rubato run --gpu sim:v100 -- rubato sim train NAME --iterations 200\n");
}

/// The world a person means by `rubato sim reset`: the one they named, else every world in their runtime
/// folder.
void reset(Invocation& invocation) {
  if (const auto named = sim::world_path_from_environment()) {
    if (const auto gone = sim::reset_world(*named); !gone)
      refuse(invocation, gone.error(), 1);
    else if (!invocation.quiet)
      fmt::print("removed {}\n", named->string());
    return;
  }
  const auto example = sim::default_world_path({});
  if (!example) {
    refuse(invocation, example.error(), 1);
    return;
  }
  int removed = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(example->parent_path(), ignored)) {
    if (entry.path().extension() != ".world") continue;
    if (const auto gone = sim::reset_world(entry.path()); !gone)
      refuse(invocation, gone.error(), 1);
    else if (!invocation.quiet)
      fmt::print("removed {}\n", entry.path().string());
    ++removed;
  }
  if (removed == 0 && !invocation.quiet) fmt::print("no simulated world to remove\n");
}

}  // namespace

void add_sim(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("sim", "simulated GPUs and a simulated trainer");
  command->require_subcommand(1);
  command->add_subcommand("gpus", "the GPUs that can be simulated")->callback(&print_gpus);
  command->add_subcommand("workloads", "what the simulated trainer can train")->callback(&print_workloads);
  command->add_subcommand("reset", "remove simulated worlds ($RUBATO_SIM_WORLD, else all of yours)")
      ->callback([&invocation] { reset(invocation); });

  auto* train = command->add_subcommand("train", "train a network on the simulated GPU of this run");
  static sim_trainer::TrainOptions options;
  train->add_option("workload", options.workload, "see `rubato sim workloads`")->required();
  train->add_option("--iterations", options.iterations, "how many iterations")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  train->add_option("--device", options.gpu, "index among the run's GPUs")->capture_default_str();
  train->add_option("--seed", options.seed, "of the jitter")->capture_default_str();
  train->callback([&invocation] {
    if (const auto trained = sim_trainer::train(options); !trained)
      refuse(invocation, trained.error(), 1);
    else
      invocation.status = *trained;
  });
}

}  // namespace rubato::cli
