#include "device/registry.h"

#include <algorithm>
#include <array>

#include "base/log.h"
#include "base/text.h"
#include "device/nvml/backend.h"
#include "device/replay/backend.h"
#include "device/select.h"
#include "device/sim/backend.h"
#include "device/sim/board_figures.h"
#include "device/sim/profile.h"

namespace rubato::device {
namespace {

constexpr std::array kBackends = {
    BackendEntry{"nvml", &nvml::open, "NVIDIA GPUs through the driver's own library"},
    BackendEntry{"sim", &sim::open, "simulated GPUs: 'sim:v100', or several: 'sim:v100,sim:v100'"},
    BackendEntry{"replay", &replay::open, "a table of measurements as a GPU: 'replay:FILE#WORKLOAD'"},
};

Result<std::unique_ptr<Backend>> open_named(std::string_view name, std::string_view argument) {
  std::string known;
  for (const BackendEntry& entry : kBackends) {
    if (entry.name == name) return entry.open(argument);
    known += cat(known.empty() ? "" : ", ", entry.name);
  }
  return fail(ErrorCode::not_found, cat("no backend '", name, "'"), cat("there are: ", known));
}

}  // namespace

std::span<const BackendEntry> backends() {
  return kBackends;
}

Result<std::unique_ptr<Backend>> open_backend(std::string_view spec) {
  const auto colon = spec.find(':');
  if (colon == std::string_view::npos) return open_named(spec, {});
  return open_named(spec.substr(0, colon), spec.substr(colon + 1));
}

std::optional<GpuFigures> figures_of_board(std::string_view name) {
  const sim::Profile* board = sim::find_board(name);
  if (board == nullptr) return std::nullopt;
  return GpuFigures{.compute_major = board->compute_major,
                    .compute_minor = board->compute_minor,
                    .sm_count = board->sm_count,
                    .memory_bus_bits = board->memory_bus_bits,
                    .highest_sm = board->sm_clocks.back(),
                    .highest_memory = board->memory_clocks.back()};
}

std::optional<BoardFigures> board_figures_of(std::string_view name) {
  const sim::Profile* board = sim::find_board(name);
  if (board == nullptr) return std::nullopt;
  return sim::board_figures(*board, *figures_of_board(name));
}

Result<Selection> select_gpus(std::string_view list, std::optional<std::string_view> visible_devices,
                              std::string_view device_order) {
  if (trim(list).empty() && visible_devices) {
    auto selection = select_present_gpus({});
    if (!selection) return selection;
    auto visible = visible_gpus(*visible_devices, selection->chosen, device_order);
    if (!visible) return fail(std::move(visible.error()));
    if (!visible->doubt.empty()) log::warning(visible->doubt);
    selection->chosen = std::move(visible->gpus);
    return selection;
  }
  auto selection = select_present_gpus(list);
  if (selection && !selection->missing.empty()) return fail(std::move(selection->missing.front()));
  return selection;
}

Result<Selection> select_present_gpus(std::string_view list) {
  std::array<std::string_view, kBackends.size()> names;
  std::transform(kBackends.begin(), kBackends.end(), names.begin(),
                 [](const BackendEntry& e) { return e.name; });
  auto request = parse_request(list, names);
  if (!request) return fail(std::move(request.error()));
  auto backend = open_named(request->backend, request->argument);
  if (!backend) return fail(std::move(backend.error()));

  Selection selection{.backend = std::move(*backend), .chosen = {}, .spec = request->backend};
  if (!request->argument.empty()) selection.spec += cat(":", request->argument);
  selection.chosen = selection.backend->gpus();
  if (request->items.empty()) return selection;
  auto present = match_present(request->items, selection.chosen);
  if (!present) return fail(std::move(present.error()));
  selection.chosen = std::move(present->gpus);
  selection.missing = std::move(present->missing);
  return selection;
}

}  // namespace rubato::device
