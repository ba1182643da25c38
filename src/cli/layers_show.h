// The demands of a network as `rubato layers show` prints them, beside what a GPU is predicted to make of
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/layers_measured.h"
#include "cli/report/page.h"
#include "core/board_figures.h"
#include "predict/layers/demands.h"
#include "predict/layers/layer_costs.h"
#include "predict/layers/ridges.h"
#include "report/value.h"

namespace rubato::cli {

/// At the board's default clocks.
struct ShownOnGpu {
  std::string uuid;
  std::string name;
  BoardFigures board;
  predict::Clocks clocks;
  std::vector<predict::LayerCost> costs;  // one for each layer of the demands
  std::vector<predict::RidgeRow> ridges;
};

struct LayersShown {
  predict::Demanded what;
  std::optional<LayerPass> only;
  std::optional<ShownOnGpu> gpu;
  std::string why_no_gpu;
  std::optional<MeasuredLayers> measured;
  std::optional<std::string> why_not_measured;  // asked for, and not there
};

/// Time of the layer's forward kernels, where the run knows a layer of its name.
[[nodiscard]] std::optional<Seconds> measured_time(const LayersShown& shown, const LayerDemand& layer);

struct PassTotal {
  LayerPass pass = LayerPass::forward;
  double operations = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  double kernels = 0;
  std::optional<Seconds> time;  // what follows: on the GPU
  std::optional<Joules> energy;
  std::array<Seconds, 3> time_by_bound{};  // by predict::LayerBound
};
/// Of the passes that are shown.
[[nodiscard]] std::vector<PassTotal> totals_of(const LayersShown& shown);

[[nodiscard]] report::Object layers_json(const LayersShown& shown);
void say_layers(Page& page, const LayersShown& shown);

}  // namespace rubato::cli
