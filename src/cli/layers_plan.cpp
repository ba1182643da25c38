// `rubato layers plan`: clocks for the layers of a network, by a strategy of a name.
#include "cli/layers_plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "cli/gpus.h"
#include "cli/layers.h"
#include "cli/layers_network.h"
#include "cli/no_nan.h"
#include "cli/output_file.h"
#include "cli/print_run.h"
#include "cli/wanted.h"
#include "experiment/latency/latency_file.h"
#include "experiment/layers/segment_table.h"
#include "experiment/layers/switching.h"
#include "plan/layers/iteration.h"
#include "plan/layers/strategies.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

// Of each memory clock, where those are chosen too: the search grows with the square of all pairs. Alone, SM
// clocks are chosen in the GPU's own steps.
constexpr std::size_t kMostSmClocks = 40;
constexpr double kLongestDelayS = 10;

struct Options {
  NetworkOptions network;
  std::string strategy = "phase";
  std::string max_slowdown = "5%";
  std::string pass;
  std::string delay;
  std::string output;
  double host_watts = 0;
  bool force = false;
  bool memory_clocks = false;
  bool ideal = false;
};

Result<Seconds> parse_delay(const std::string& text) {
  std::string plain = text;
  double scale = 1;
  if (plain.ends_with("ms")) {
    plain.resize(plain.size() - 2);
    scale = 1e-3;
  } else if (plain.ends_with("s")) {
    plain.resize(plain.size() - 1);
  }
  const auto value = parse_number(trim(plain));
  if (!value || !(*value >= 0 && *value * scale <= kLongestDelayS))
    return fail(ErrorCode::invalid_argument, cat("--delay ", text, " is no time of 0 to 10 s"),
                "--delay 30ms");
  return Seconds(*value * scale);
}

struct Target {
  GpuIdentity identity;
  std::string driver_version;
  BoardFigures board;
};

Result<Target> target_of(const std::string& list) {
  const auto open = open_gpus(list);
  if (!open) return fail(open.error());
  const auto& chosen = open->selection.chosen;
  if (!list.empty() && chosen.size() > 1)
    return fail(ErrorCode::invalid_argument,
                cat("--gpu ", list, " names ", chosen.size(), " GPUs; a plan is for one"));
  const GpuIdentity& identity = chosen.front();
  auto board = device::board_figures_of(identity.name);
  if (!board)
    return fail(ErrorCode::not_found, cat("gpus/ has no figures of a board \"", identity.name, "\""),
                "`rubato sim gpus` lists the boards it has");
  return Target{identity, open->selection.backend->driver_version(), std::move(*board)};
}

Seconds median_delay(const plan::Switching& switching, std::size_t settings) {
  std::vector<Seconds> all;
  for (std::size_t pair = 0; pair < switching.delay.size(); ++pair)
    if (pair / settings != pair % settings) all.push_back(switching.delay[pair]);
  if (all.empty()) return {};
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

Status count_switching(const Options& options, const Target& target, LayersPlanned& out) {
  const std::span<const predict::Clocks> settings = out.table.settings;
  if (options.ideal) {
    out.delay_source = "none: ideal switching, which no GPU has";
    return {};
  }
  auto costs = experiment::published_switch_costs(target.board);
  if (!options.delay.empty()) {
    const auto delay = parse_delay(options.delay);
    if (!delay) return fail(delay.error());
    costs.delay = *delay;
    out.switching = experiment::switching_of(settings, target.board, costs);
    out.delay_source = "as typed";
  } else if (const auto measured = experiment::load_latency(target.identity.id.uuid, target.driver_version)) {
    out.switching = experiment::switching_of(settings, target.board, *measured);
    out.of_this_gpu = true;
    out.delay_source = cat(name_of(measured->kind), " on this GPU, ", measured->measured_on);
  } else if (measured.error().code != ErrorCode::not_found && measured.error().code != ErrorCode::conflict) {
    return fail(measured.error());
  } else {
    out.switching = experiment::switching_of(settings, target.board, costs);
    out.delay_source = cat("published for boards of this kind; `rubato latency --gpu ",
                           target.identity.id.uuid, "` measures this one");
  }
  out.delay = median_delay(out.switching, settings.size());
  return {};
}

Result<std::vector<const plan::LayerStrategy*>> strategies_of(const std::string& name) {
  std::vector<const plan::LayerStrategy*> out;
  if (name == "all") {
    for (const plan::LayerStrategy& strategy : plan::layer_strategies()) out.push_back(&strategy);
    return out;
  }
  const auto found = plan::find_layer_strategy(name);
  if (!found) return fail(found.error());
  out.push_back(*found);
  return out;
}

Result<LayersPlanned> plan_all(const Invocation& invocation, const Options& options) {
  const auto strategies = strategies_of(options.strategy);
  if (!strategies) return fail(strategies.error());
  if (!options.output.empty() && strategies->size() > 1)
    return fail(ErrorCode::invalid_argument, "-o writes one plan, and --strategy all makes several",
                "-o plan.json --strategy phase");
  if (!options.output.empty() && options.ideal)
    return fail(ErrorCode::invalid_argument,
                "a plan for clocks that change at once fits no GPU: it is for looking at",
                "leave --ideal out, or take --json in the place of -o");
  const auto bound = parse_max_slowdown(options.max_slowdown);
  if (!bound) return fail(bound.error());
  if (!*bound)
    return fail(ErrorCode::invalid_argument, "a plan over layers needs a bound", "--max-slowdown 5%");
  LayersPlanned out;
  out.goal = {**bound, Watts(options.host_watts)};
  auto demanded = read_demands(options.network);
  if (!demanded) return fail(demanded.error());
  out.demands = std::move(demanded->demands);
  if (demanded->left_out.empty()) out.parameters = predict::trained_parameters_of(out.demands);
  if (!options.pass.empty()) {
    const auto pass = parse_layer_pass(options.pass);
    if (!pass) return fail(pass.error());
    out.only = *pass;
    std::erase_if(out.demands.layers, [&](const LayerDemand& layer) { return layer.pass != *pass; });
  }
  const auto target = target_of(invocation.gpu);
  if (!target) return fail(target.error());
  out.board = target->identity.name;
  out.uuid = target->identity.id.uuid;
  out.memory_clocks = options.memory_clocks;
  if (options.memory_clocks && !target->board.has_memory_lock)
    return fail(ErrorCode::not_supported, cat(out.board, " takes no lock of the memory clock"),
                "leave --memory-clocks out");
  auto table = experiment::segment_table(
      out.demands, target->board,
      {.memory_clocks = options.memory_clocks, .most_sm_clocks = options.memory_clocks ? kMostSmClocks : 0});
  if (!table) return fail(table.error());
  out.table = std::move(*table);
  if (Status counted = count_switching(options, *target, out); !counted) return fail(counted.error());
  out.at_default = plan::uniform_cost(out.table, out.table.at_default);
  out.single = plan::best_single(out.table, out.goal);
  out.at_single = plan::uniform_cost(out.table, out.single);
  for (const plan::LayerStrategy* strategy : *strategies) {
    PlannedBy by{std::string(strategy->name), {}, {}, {}, {}};
    auto made = strategy->plan(out.table, out.switching, out.goal);
    if (made) {
      by.plan = std::move(*made);
      auto phases = plan::phases_of(out.table, out.switching, *by.plan);
      if (phases)
        by.phases = std::move(*phases);
      else
        by.why_no_phases = phases.error().what;
    } else if (made.error().code == ErrorCode::unavailable && strategies->size() > 1) {
      by.why_not = made.error().what;
    } else {
      return fail(made.error());
    }
    out.plans.push_back(std::move(by));
  }
  return out;
}

Status write_plan(const LayersPlanned& planned, OutputFile& file) {
  const PlannedBy& by = planned.plans.front();
  if (by.phases.empty())
    return fail(ErrorCode::unavailable, cat("no plan to write: ", by.why_no_phases), "--strategy phase");
  if (Status written = file.write(plan::write_layer_plan(layer_plan_of(planned, by))); !written)
    return written;
  return file.finish();
}

void layers_plan(Invocation& invocation, const Options& options) {
  std::optional<OutputFile> file;
  if (!options.output.empty()) {
    // Opened first: what cannot be written is found before the work is done.
    auto opened = OutputFile::open(options.output, options.force);
    if (!opened) {
      refuse(invocation, opened.error());
      return;
    }
    file.emplace(std::move(*opened));
  }
  const auto planned = plan_all(invocation, options);
  if (!planned) {
    refuse(invocation, planned.error());
    return;
  }
  if (file) {
    if (const Status written = write_plan(*planned, *file); !written) {
      refuse(invocation, written.error(), 1);
      return;
    }
    if (options.output == "-") return;
  }
  if (invocation.json) {
    fmt::print("{}", report::render_json(layers_plan_json(*planned)));
    return;
  }
  Page page(text_options(STDOUT_FILENO));
  say_layers_plan(page, *planned);
  if (file) {
    page.gap();
    page.say(
        cat("Written to ", options.output, ". Run it: rubato run --plan ", options.output, " -- COMMAND"));
  }
  fmt::print("{}", page.take());
}

}  // namespace

plan::LayerPlan layer_plan_of(const LayersPlanned& planned, const PlannedBy& by) {
  const auto cost = [](const plan::SegmentCost& c) { return plan::PlannedCost{c.time, c.energy}; };
  plan::LayerPlan out;
  out.board = planned.board;
  if (planned.of_this_gpu) out.uuid = planned.uuid;
  out.network = planned.demands.network;
  out.batch = planned.demands.batch;
  out.parameters = planned.parameters;
  out.input = planned.demands.input;
  out.precision = planned.demands.precision;
  out.only = planned.only;
  out.strategy = by.strategy;
  out.max_slowdown = planned.goal.max_slowdown;
  out.kind = Kind::modelled;
  out.memory_clock = planned.memory_clocks;
  out.single = planned.table.settings[planned.single];
  out.at_default = cost(planned.at_default);
  out.at_single = cost(planned.at_single);
  out.planned = {by.plan->time, by.plan->energy};
  out.switching_delay = planned.delay;
  out.dwell = by.plan->dwell;
  out.phases = by.phases;
  return out;
}

void add_layers_plan(CLI::App& group, Invocation& invocation) {
  auto* command =
      group.add_subcommand("plan", "clocks for each layer or phase of an iteration, and what they save");
  static Options options;
  add_network_options(*command, options.network);
  command
      ->add_option("--strategy", options.strategy,
                   "single, arithmetic-intensity, exhaustive, pass, phase, or all to compare them")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--max-slowdown", options.max_slowdown, "how much longer an iteration may take")
      ->type_name("PERCENT")
      ->capture_default_str();
  command->add_option("--pass", options.pass, "plan this one alone, as it is in training")
      ->type_name("NAME")
      ->check(CLI::IsMember({"forward", "backward", "optimizer"}));
  command->add_flag("--memory-clocks", options.memory_clocks, "choose memory clocks too");
  auto* delay = command
                    ->add_option("--delay", options.delay,
                                 "count this from a request to the new clocks (default: as measured by "
                                 "`rubato latency`, else as published)")
                    ->type_name("TIME");
  command->add_flag("--ideal", options.ideal, "as if clocks changed at once and for nothing")
      ->excludes(delay);
  command
      ->add_option("--host-watts", options.host_watts,
                   "what the rest of the machine draws per GPU while the job runs")
      ->type_name("W")
      ->check(CLI::Range(0.0, 1e6))
      ->check(no_nan());
  command->add_option("-o,--output", options.output, "write the plan for `rubato run --plan`")
      ->type_name("FILE");
  command->add_flag("--force", options.force, "replace FILE where it is there");
  command
      ->add_option("--gpu", invocation.gpu,
                   "plan for this one: index, UUID or sim:rtxa4000 (default: the first)")
      ->type_name("GPU");
  command->add_flag("--json", invocation.json, "machine-readable output (rubato.layer-plans/1)");
  command->callback([&invocation] { layers_plan(invocation, options); });
}

}  // namespace rubato::cli
