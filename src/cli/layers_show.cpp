// `rubato layers show`: operations and bytes of each layer, and what a GPU makes of them.
#include "cli/layers_show.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/gpus.h"
#include "cli/layers.h"
#include "cli/layers_network.h"
#include "cli/print_run.h"
#include "cli/records.h"
#include "experiment/layers/segment_table.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

struct Options {
  NetworkOptions network;
  std::string pass;
  std::string run;
};

Result<ShownOnGpu> on_gpu(const GpuIdentity& identity, const NetworkDemands& demands) {
  const auto board = device::board_figures_of(identity.name);
  if (!board)
    return fail(ErrorCode::not_found, cat("gpus/ has no figures of a board \"", identity.name, "\""),
                "`rubato sim gpus` lists the boards it has");
  ShownOnGpu out{.uuid = identity.id.uuid,
                 .name = identity.name,
                 .board = *board,
                 .clocks = {board->sm_default, board->memory_default},
                 .costs = {},
                 .ridges = {}};
  const auto reached = experiment::clocks_in_force(demands, *board, out.clocks);
  if (!reached) return fail(reached.error());
  out.clocks = *reached;
  const BoardFigures unlimited = experiment::without_limit(*board);
  for (const LayerDemand& layer : demands.layers) {
    const auto cost = predict::layer_cost(layer, demands.precision, unlimited, out.clocks);
    if (!cost) return fail(cost.error());
    out.costs.push_back(*cost);
  }
  auto ridges = predict::ridges_of(*board, demands.precision);
  if (!ridges) return fail(ridges.error());
  out.ridges = std::move(*ridges);
  return out;
}

/// A GPU that was typed must be one that can be told of; where none was, the demands stand alone.
Status add_gpu(const Invocation& invocation, LayersShown& shown) {
  const bool asked = !invocation.gpu.empty();
  const auto open = open_gpus(invocation.gpu);
  if (!open) {
    if (asked) return fail(open.error());
    shown.why_no_gpu = open.error().what;
    return {};
  }
  const auto& chosen = open->selection.chosen;
  if (asked && chosen.size() > 1)
    return fail(ErrorCode::invalid_argument,
                cat("--gpu ", invocation.gpu, " names ", chosen.size(), " GPUs; one at a time is looked at"));
  auto gpu = on_gpu(chosen.front(), shown.what.demands);
  if (gpu)
    shown.gpu = std::move(*gpu);
  else if (asked)
    return fail(gpu.error());
  else
    shown.why_no_gpu = gpu.error().what;
  return {};
}

Status add_run(const std::string& name, LayersShown& shown) {
  if (name.empty()) return {};
  const auto file = find_record(name);
  if (!file) return fail(file.error());
  const auto run = record::read_run(*file);
  if (!run) return fail(run.error());
  auto measured = measured_layers(*run);
  if (measured)
    shown.measured = std::move(*measured);
  else
    shown.why_not_measured =
        measured.error().what + (measured.error().hint.empty() ? "" : "; ") + measured.error().hint;
  return {};
}

Result<LayersShown> gather(const Invocation& invocation, const Options& options) {
  LayersShown shown;
  auto what = read_demands(options.network);
  if (!what) return fail(what.error());
  shown.what = std::move(*what);
  if (!options.pass.empty()) {
    const auto pass = parse_layer_pass(options.pass);
    if (!pass) return fail(pass.error());
    shown.only = *pass;
  }
  if (Status added = add_gpu(invocation, shown); !added) return fail(added.error());
  if (Status added = add_run(options.run, shown); !added) return fail(added.error());
  return shown;
}

}  // namespace

std::optional<Seconds> measured_time(const LayersShown& shown, const LayerDemand& layer) {
  if (!shown.measured || layer.pass != LayerPass::forward) return {};
  const auto at = shown.measured->time.find(layer.layer);
  if (at == shown.measured->time.end()) return {};
  return at->second;
}

std::vector<PassTotal> totals_of(const LayersShown& shown) {
  std::vector<PassTotal> out;
  const auto& layers = shown.what.demands.layers;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerDemand& layer = layers[i];
    if (shown.only && layer.pass != *shown.only) continue;
    if (out.empty() || out.back().pass != layer.pass) {
      out.emplace_back();
      out.back().pass = layer.pass;
      if (shown.gpu) out.back().time = Seconds(0), out.back().energy = Joules(0);
    }
    PassTotal& total = out.back();
    total.operations += layer.operations;
    total.bytes_read += layer.bytes_read;
    total.bytes_written += layer.bytes_written;
    total.kernels += layer.kernels;
    if (!shown.gpu) continue;
    const predict::LayerCost& cost = shown.gpu->costs[i];
    *total.time += cost.time;
    *total.energy += cost.power * cost.time;
    total.time_by_bound[static_cast<std::size_t>(cost.bound)] += cost.time;
  }
  return out;
}

void add_layers_show(CLI::App& group, Invocation& invocation) {
  auto* command = group.add_subcommand(
      "show", "operations, bytes and parameters of each layer, and whether compute or memory holds it up");
  static Options options;
  add_network_options(*command, options.network);
  command->add_option("--pass", options.pass, "only this one: forward, backward, optimizer")
      ->type_name("NAME")
      ->check(CLI::IsMember({"forward", "backward", "optimizer"}));
  command
      ->add_option("--run", options.run,
                   "measured times beside it, of a run whose kernels know their layers: a run id or `last`")
      ->type_name("RUN");
  command
      ->add_option("--gpu", invocation.gpu,
                   "predict for this one: index, UUID or sim:rtxa4000 (default: the first)")
      ->type_name("GPU");
  command->add_flag("--json", invocation.json, "machine-readable output (rubato.layers/1)");
  command->callback([&invocation] {
    const auto shown = gather(invocation, options);
    if (!shown) {
      refuse(invocation, shown.error());
      return;
    }
    if (invocation.json) {
      fmt::print("{}", report::render_json(layers_json(*shown)));
      return;
    }
    Page page(text_options(STDOUT_FILENO));
    say_layers(page, *shown);
    fmt::print("{}", page.take());
  });
}

}  // namespace rubato::cli
