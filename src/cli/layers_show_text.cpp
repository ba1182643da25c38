#include <algorithm>
#include <cmath>

#include "cli/layers_show.h"

namespace rubato::cli {
namespace {

/// Three digits that mean something, in the unit `scale` makes.
std::string three(double value, double scale) {
  const double scaled = value / scale;
  if (!std::isfinite(scaled)) return "-";
  if (scaled == 0) return "0";
  if (scaled < 0.0005) return "<.001";
  return fixed(scaled, scaled < 0.9995 ? 3 : scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0);
}

std::string pass_name(LayerPass pass) {
  if (pass == LayerPass::forward) return "Forward pass";
  if (pass == LayerPass::backward) return "Backward pass";
  return "Optimizer step";
}

std::string optimizer_words(predict::Optimizer optimizer) {
  if (optimizer == predict::Optimizer::momentum) return "SGD with momentum";
  return optimizer == predict::Optimizer::sgd ? "SGD" : "Adam";
}

void say_head(Page& page, const LayersShown& shown) {
  const NetworkDemands& demands = shown.what.demands;
  page.heading(cat(demands.network, ", one iteration on a batch of ", demands.batch));
  page.row("input", demands.input);
  page.row("computed in", cat(name_of(demands.precision), ", ", optimizer_words(shown.what.optimizer)));
  page.row("forward", cat(three(predict::macs_per_sample(demands), 1e9), " G multiply-adds a sample"));
  page.row("parameters", cat(three(predict::parameters_of(demands), 1e6), " million"));
  page.row("network", demands.source);
  if (!shown.gpu) {
    page.row("GPU", cat("none to predict for: ", shown.why_no_gpu));
    return;
  }
  const ShownOnGpu& gpu = *shown.gpu;
  const Megahertz asked = gpu.board.sm_default;
  const bool held = gpu.clocks.sm < asked;
  page.row("GPU",
           cat(gpu.name, " at SM ", number(gpu.clocks.sm.value(), 0), " MHz, memory ", gpu.clocks.memory,
               held ? cat(" (its default of ", asked, ", held down by ", gpu.board.limit,
                          " in the mean of an iteration)")
                    : ""));
}

void say_pass(Page& page, const LayersShown& shown, LayerPass pass) {
  const auto& layers = shown.what.demands.layers;
  const bool timed = shown.gpu.has_value();
  const bool measured = shown.measured.has_value() && pass == LayerPass::forward;
  std::vector<Table::Column> columns{
      {"layer"}, {"Gop", true}, {"MB in", true}, {"MB out", true}, {"op/B", true}};
  columns.push_back({"k param", true});
  if (timed) columns.insert(columns.end(), {{"ms", true}, {"bound"}});
  if (measured) columns.insert(columns.end() - (timed ? 1 : 0), {"ms run", true});
  const std::size_t others = 41 + (timed ? 17 : 0) + (measured ? 8 : 0);
  const std::size_t name_width = page.width() > others + 14 ? page.width() - others : 14;
  Table table(std::move(columns));
  bool any = false;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerDemand& layer = layers[i];
    if (layer.pass != pass) continue;
    any = true;
    std::vector<std::string> row{cut(layer.layer, name_width), three(layer.operations, 1e9),
                                 three(layer.bytes_read, 1e6), three(layer.bytes_written, 1e6),
                                 three(layer.intensity(), 1),  three(layer.parameters, 1e3)};
    if (timed) row.push_back(three(shown.gpu->costs[i].time.value(), 1e-3));
    if (measured) {
      const auto time = measured_time(shown, layer);
      row.push_back(time ? three(time->value(), 1e-3) : "-");
    }
    if (timed) row.emplace_back(name_of(shown.gpu->costs[i].bound));
    table.add(std::move(row));
  }
  if (!any) return;
  page.heading(pass_name(pass));
  page.table(table);
}

void say_totals(Page& page, const LayersShown& shown) {
  page.heading("Totals");
  std::vector<Table::Column> columns{
      {"pass"}, {"Gop", true}, {"GB in", true}, {"GB out", true}, {"op/B", true}};
  if (shown.gpu)
    columns.insert(columns.end(),
                   {{"ms", true}, {"J", true}, {"compute", true}, {"memory", true}, {"latency", true}});
  Table table(std::move(columns));
  for (const PassTotal& total : totals_of(shown)) {
    const double bytes = total.bytes_read + total.bytes_written;
    std::vector<std::string> row{std::string(name_of(total.pass)), three(total.operations, 1e9),
                                 three(total.bytes_read, 1e9), three(total.bytes_written, 1e9),
                                 three(total.operations / bytes, 1)};
    if (total.time) {
      row.push_back(three(total.time->value(), 1e-3));
      row.push_back(three(total.energy->value(), 1));
      for (const auto bound :
           {predict::LayerBound::compute, predict::LayerBound::memory, predict::LayerBound::latency})
        row.push_back(percent(total.time_by_bound[static_cast<std::size_t>(bound)] / *total.time));
    }
    table.add(std::move(row));
  }
  page.table(table);
}

std::string ridge_cell(const predict::RidgeAt& at, bool dense) {
  return cat(three(dense ? at.dense : at.elementwise, 1), " (", at.clocks.sm, ")");
}

void say_ridges(Page& page, const LayersShown& shown) {
  if (!shown.gpu || shown.gpu->ridges.empty()) return;
  page.heading("Ridge, operations for each byte (SM clock)");
  Table table({{"memory"}, {"lowest", true}, {"default", true}, {"highest", true}});
  const auto add = [&](const predict::RidgeRow& row, bool dense, std::string_view pipe) {
    table.add({cat(row.memory, pipe), ridge_cell(row.lowest, dense),
               row.by_default ? ridge_cell(*row.by_default, dense) : "-", ridge_cell(row.highest, dense)});
  };
  const bool tensor = shown.gpu->ridges.front().lowest.dense != shown.gpu->ridges.front().lowest.elementwise;
  for (const auto& row : shown.gpu->ridges) add(row, true, tensor ? ", products" : "");
  if (tensor)
    for (const auto& row : shown.gpu->ridges) add(row, false, ", elements");
  page.table(table);
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 5;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) out += cat(i == 0 ? "" : ", ", names[i]);
  if (names.size() > kMost) out += cat(" and ", names.size() - kMost, " more");
  return out;
}

void say_measured(Page& page, const LayersShown& shown) {
  if (shown.why_not_measured) page.say(cat("Nothing measured: ", *shown.why_not_measured, "."));
  if (!shown.measured) return;
  const MeasuredLayers& run = *shown.measured;
  const auto& layers = shown.what.demands.layers;
  const auto seen = std::count_if(layers.begin(), layers.end(), [&](const LayerDemand& layer) {
    return measured_time(shown, layer).has_value();
  });
  page.say(cat("ms run: kernels launched in a layer of that name, mean of ", fixed(run.iterations, 1),
               " iterations of ", run.run_id, " on ", run.gpu, " (", name_of(run.kind), ")."));
  if (seen > 0) return;
  std::vector<std::string> names;
  for (const auto& [name, time] : run.time)
    names.push_back(cat(name, " (", three(time.value(), 1e-3), " ms)"));
  page.say(cat("That run knows none of these layers; what it knows: ", listed(names), "."));
}

void say_notes(Page& page, const LayersShown& shown) {
  page.gap();
  page.say(
      "Counted from shapes: each kernel reads and writes its tensors once, nothing stays in a cache between "
      "layers; in: read, out: written; a multiply-add is two operations.");
  if (shown.gpu) {
    const predict::Reach& reach = predict::published_reach();
    page.say(cat("Times and joules are modelled (roofline on gpus/", shown.gpu->board.profile,
                 ".json, no GPU ran), at ", percent(reach.dense), " of the peak in products, ",
                 percent(reach.elementwise), " element by element, ", percent(reach.memory),
                 " of the memory's, ", three(reach.launch.value(), 1e-6),
                 " µs a launch. bound: what holds the layer up at these clocks."));
  }
  if (!shown.what.unknown.empty())
    page.say(cat("Of unknown kind, counted as element-wise: ", listed(shown.what.unknown), "."), Ink::bad);
  if (!shown.what.left_out.empty())
    page.say(cat("Left out, for their shapes are dynamic: ", listed(shown.what.left_out),
                 ". Nothing here counts them."),
             Ink::bad);
  for (const std::string& note : shown.what.notes) page.say(note);
  say_measured(page, shown);
}

}  // namespace

void say_layers(Page& page, const LayersShown& shown) {
  say_head(page, shown);
  for (const LayerPass pass : {LayerPass::forward, LayerPass::backward, LayerPass::optimizer})
    if (!shown.only || *shown.only == pass) say_pass(page, shown, pass);
  say_totals(page, shown);
  say_ridges(page, shown);
  say_notes(page, shown);
}

}  // namespace rubato::cli
