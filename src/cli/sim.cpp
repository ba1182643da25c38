#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "cli/invocation.h"
#include "cli/lines.h"
#include "device/replay/world.h"
#include "device/sim/profile.h"
#include "device/sim/work.h"
#include "device/sim/world.h"
#include "report/render.h"
#include "simgpu/trainer/train.h"

namespace rubato::cli {
namespace {

namespace sim = device::sim;
using report::Array;
using report::Object;

void print_gpus(const Invocation& invocation) {
  if (invocation.json) {
    Array profiles;
    for (const auto& profile : sim::list_profiles())
      profiles.emplace_back(
          Object{{"profile", profile.name}, {"alias", profile.alias}, {"board", profile.board}});
    fmt::print("{}", render_json(Object{{"schema", "rubato.sim_gpus/1"}, {"gpus", std::move(profiles)}}));
    return;
  }
  fmt::print("{:<18} {:<11} {}\n", "PROFILE", "ALIAS", "BOARD");
  for (const auto& profile : sim::list_profiles())
    fmt::print("{:<18} {:<11} {}\n", profile.name, profile.alias, profile.board);
  fmt::print("\nUse one as --gpu sim:ALIAS; two GPUs in one world as --gpu sim:v100,sim:v100.\n");
}

void print_workloads(const Invocation& invocation) {
  if (invocation.json) {
    Array workloads;
    for (const auto& workload : sim::list_workloads())
      workloads.emplace_back(Object{{"workload", workload.name}, {"description", workload.description}});
    fmt::print(
        "{}", render_json(Object{{"schema", "rubato.sim_workloads/1"}, {"workloads", std::move(workloads)}}));
    return;
  }
  fmt::print("{:<14} {}\n", "WORKLOAD", "WHAT IT IS");
  for (const auto& workload : sim::list_workloads())
    print_line(fmt::format("{:<14} ", workload.name), workload.description);
  fmt::print("\nTrain one with: rubato run --gpu sim:v100 -- rubato sim train NAME --iterations 200\n");
}

/// The worlds a person means by `rubato sim reset`: those they named, else all in their runtime folder.
Result<std::vector<std::filesystem::path>> worlds() {
  const auto simulated = sim::world_path_from_environment();
  const auto replayed = device::replay::world_path_from_environment();
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  // Of two that are named one need not be there.
  if (replayed && (!simulated || std::filesystem::exists(*replayed, ignored))) found.push_back(*replayed);
  if (simulated && (found.empty() || std::filesystem::exists(*simulated, ignored)))
    found.push_back(*simulated);
  if (!found.empty()) return found;
  const auto example = sim::default_world_path({});
  if (!example) return fail(example.error());
  const auto replays = device::replay::default_world_folder();
  if (!replays) return fail(replays.error());
  for (const auto& folder : {example->parent_path(), *replays})
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
      if (entry.path().extension() == ".world") found.push_back(entry.path());
  return found;
}

void reset(Invocation& invocation) {
  const auto all = worlds();
  if (!all) {
    refuse(invocation, all.error(), 1);
    return;
  }
  Array removed;
  for (const auto& world : *all) {
    if (const auto gone = sim::reset_world(world); !gone)
      refuse(invocation, gone.error(), 1);
    else
      removed.emplace_back(world.string());
  }
  if (invocation.json) {
    fmt::print("{}", render_json(Object{{"schema", "rubato.sim_reset/1"}, {"removed", std::move(removed)}}));
    return;
  }
  for (const auto& world : removed) fmt::print("removed {}\n", *world.as<std::string>());
  if (all->empty()) fmt::print("no simulated world to remove\n");
}

CLI::App* add_printing(CLI::App& sim, const char* name, const char* description, Invocation& invocation) {
  auto* command = sim.add_subcommand(name, description);
  command->add_flag("--json", invocation.json, "machine-readable output");
  return command;
}

/// "0,1" into the options.
Status read_devices(const std::string& list, sim_trainer::TrainOptions& options) {
  options.beside.clear();
  const auto words = split(list, ',');
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto index = parse_integer(words[i]);
    if (!index || *index < 0 || *index > 1'000)
      return fail(ErrorCode::invalid_argument,
                  cat("--device ", list, ": ", words[i], " is no index of a GPU"),
                  "--device 0, or --device 0,1 for a training on two in step");
    if (i == 0)
      options.gpu = static_cast<int>(*index);
    else
      options.beside.push_back(static_cast<int>(*index));
  }
  return {};
}

}  // namespace

void add_sim(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("sim", "simulated GPUs and a simulated trainer");
  command->require_subcommand(1);
  add_printing(*command, "gpus", "the GPUs that can be simulated", invocation)->callback([&invocation] {
    print_gpus(invocation);
  });
  add_printing(*command, "workloads", "what the simulated trainer can train", invocation)
      ->callback([&invocation] { print_workloads(invocation); });
  add_printing(*command, "reset",
               "remove simulated worlds ($RUBATO_SIM_WORLD, $RUBATO_REPLAY_WORLD, else all of yours)",
               invocation)
      ->callback([&invocation] { reset(invocation); });

  auto* train = command->add_subcommand("train", "train on the simulated or replayed GPU of this run");
  static sim_trainer::TrainOptions options;
  options.workload.clear();
  train
      ->add_option("workload", options.workload,
                   "see `rubato sim workloads`; on a replayed GPU 'replay' or nothing: the table's own")
      ->type_name("WORKLOAD");
  train->add_option("--iterations", options.iterations, "how many iterations")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  static std::string devices = "0";
  train
      ->add_option("--device", devices,
                   "index among the run's GPUs; several (0,1) do the same in step, as data-parallel ranks do")
      ->type_name("LIST")
      ->capture_default_str();
  train->add_option("--seed", options.seed, "of the jitter")->capture_default_str();
  train->callback([&invocation] {
    if (const Status known = read_devices(devices, options); !known) {
      refuse(invocation, known.error());
      return;
    }
    if (const auto trained = sim_trainer::train(options); !trained)
      refuse(invocation, trained.error(), 1);
    else
      invocation.status = *trained;
  });
}

}  // namespace rubato::cli
