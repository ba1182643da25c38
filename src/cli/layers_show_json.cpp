#include <algorithm>
#include <cmath>

#include "cli/json_values.h"
#include "cli/layers_show.h"

namespace rubato::cli {
namespace {

using report::Array;
using report::Missing;
using report::Object;
using report::Value;

/// Every digit of what a double holds exactly.
Value count(double number) {
  if (number > 9e15) return exact(number);
  return std::llround(number);
}

Value seconds(const std::optional<Seconds>& time) {
  if (!time) return Missing{};
  return exact(time->value());
}

Array texts(const std::vector<std::string>& all) {
  return {all.begin(), all.end()};
}

Object layer_json(const LayersShown& shown, std::size_t i) {
  const LayerDemand& layer = shown.what.demands.layers[i];
  const auto& unknown = shown.what.unknown;
  Object out{{"layer", layer.layer},
             {"kind", layer.kind},
             {"unknown", std::find(unknown.begin(), unknown.end(), layer.layer) != unknown.end()},
             {"pass", name_of(layer.pass)},
             {"operations", count(layer.operations)},
             {"dense", layer.dense},
             {"bytes_read", count(layer.bytes_read)},
             {"bytes_written", count(layer.bytes_written)},
             {"operations_per_byte", exact(layer.intensity())},
             {"parameters", count(layer.parameters)},
             {"kernels", layer.kernels}};
  if (shown.gpu) {
    const predict::LayerCost& cost = shown.gpu->costs[i];
    out.set("bound", name_of(cost.bound));
    out.set("time_s", exact(cost.time.value()));
    out.set("power_w", exact(cost.power.value()));
  } else {
    for (const char* key : {"bound", "time_s", "power_w"}) out.set(key, Missing{});
  }
  out.set("measured_time_s", seconds(measured_time(shown, layer)));
  return out;
}

Object total_json(const PassTotal& total) {
  Object out{{"pass", name_of(total.pass)},           {"operations", count(total.operations)},
             {"bytes_read", count(total.bytes_read)}, {"bytes_written", count(total.bytes_written)},
             {"kernels", count(total.kernels)},       {"time_s", seconds(total.time)}};
  if (!total.time) {
    out.set("energy_j", Missing{});
    out.set("time_by_bound", Missing{});
    return out;
  }
  out.set("energy_j", exact(total.energy->value()));
  Object bounds;
  for (const auto bound :
       {predict::LayerBound::compute, predict::LayerBound::memory, predict::LayerBound::latency})
    bounds.set(cat(name_of(bound), "_s"),
               exact(total.time_by_bound[static_cast<std::size_t>(bound)].value()));
  out.set("time_by_bound", std::move(bounds));
  return out;
}

Object ridge_json(const predict::RidgeAt& at, std::string_view which) {
  return {{"memory_clock_mhz", exact(at.clocks.memory.value())},
          {"sm_clock_mhz", exact(at.clocks.sm.value())},
          {"sm_clock", which},
          {"dense_operations_per_byte", exact(at.dense)},
          {"elementwise_operations_per_byte", exact(at.elementwise)}};
}

Value gpu_json(const LayersShown& shown) {
  if (!shown.gpu) return Missing{};
  const ShownOnGpu& gpu = *shown.gpu;
  Array ridges;
  for (const predict::RidgeRow& row : gpu.ridges) {
    ridges.emplace_back(ridge_json(row.lowest, "lowest"));
    if (row.by_default) ridges.emplace_back(ridge_json(*row.by_default, "default"));
    ridges.emplace_back(ridge_json(row.highest, "highest"));
  }
  const predict::Reach& reach = predict::published_reach();
  return Object{{"uuid", gpu.uuid},
                {"name", gpu.name},
                {"profile", gpu.board.profile},
                {"kind", name_of(Kind::modelled)},
                {"source", cat("gpus/", gpu.board.profile, ".json, roofline")},
                {"sm_clock_mhz", exact(gpu.clocks.sm.value())},
                {"memory_clock_mhz", exact(gpu.clocks.memory.value())},
                {"reach", Object{{"dense", exact(reach.dense)},
                                 {"elementwise", exact(reach.elementwise)},
                                 {"memory", exact(reach.memory)},
                                 {"launch_s", exact(reach.launch.value())}}},
                {"ridges", std::move(ridges)}};
}

}  // namespace

report::Object layers_json(const LayersShown& shown) {
  const NetworkDemands& demands = shown.what.demands;
  Object out{{"schema", "rubato.layers/1"},
             {"network", demands.network},
             {"source", demands.source},
             {"batch", demands.batch},
             {"input", demands.input},
             {"precision", name_of(demands.precision)},
             {"optimizer", name_of(shown.what.optimizer)},
             {"kind", name_of(Kind::modelled)},
             {"macs_per_sample", count(predict::macs_per_sample(demands))},
             {"parameters", count(predict::parameters_of(demands))},
             {"unknown", texts(shown.what.unknown)},
             {"left_out", texts(shown.what.left_out)},
             {"notes", texts(shown.what.notes)},
             {"gpu", gpu_json(shown)}};
  if (!shown.gpu) out.set("why_no_gpu", shown.why_no_gpu);
  if (shown.measured) {
    Object times;
    for (const auto& [name, time] : shown.measured->time) times.set(name, exact(time.value()));
    out.set("measured", Object{{"run_id", shown.measured->run_id},
                               {"gpu", shown.measured->gpu},
                               {"kind", name_of(shown.measured->kind)},
                               {"iterations", exact(shown.measured->iterations)},
                               {"time_s", std::move(times)}});
  } else {
    out.set("measured", Missing{});
    if (shown.why_not_measured) out.set("why_not_measured", *shown.why_not_measured);
  }
  Array totals;
  for (const PassTotal& total : totals_of(shown)) totals.emplace_back(total_json(total));
  out.set("totals", std::move(totals));
  Array layers;
  for (std::size_t i = 0; i < demands.layers.size(); ++i)
    if (!shown.only || demands.layers[i].pass == *shown.only) layers.emplace_back(layer_json(shown, i));
  out.set("layers", std::move(layers));
  return out;
}

}  // namespace rubato::cli
