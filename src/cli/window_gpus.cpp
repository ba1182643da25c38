#include "cli/window_gpus.h"

#include <cstdlib>
#include <optional>

#include "base/log.h"
#include "base/text.h"
#include "device/select.h"

namespace rubato::cli {
namespace {

std::optional<std::string_view> variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string_view>(value);
}

/// The world that a run gave its job, by Backend::job_environment().
struct WorldOfRun {
  std::string backend;
  std::vector<std::string> gpus;  // the job's, by UUID
};

std::optional<WorldOfRun> world_of_run() {
  for (const auto& [name, backend] : {std::pair{"RUBATO_SIM_GPUS", "sim"}, {"RUBATO_REPLAY_GPUS", "replay"}})
    if (const auto gpus = variable(name); gpus && !gpus->empty())
      return WorldOfRun{backend, split(*gpus, ',')};
  return std::nullopt;
}

Result<device::Request> request_of(std::string_view list) {
  std::vector<std::string_view> names;
  for (const auto& entry : device::backends()) names.push_back(entry.name);
  return device::parse_request(list, names);
}

Result<std::vector<GpuIdentity>> visible_of(std::string_view visible_devices, std::string_view order,
                                            const std::vector<GpuIdentity>& gpus) {
  auto visible = device::visible_gpus(visible_devices, gpus, order);
  if (!visible) return fail(std::move(visible.error()));
  if (!visible->doubt.empty()) log::warning(visible->doubt);
  return std::move(visible->gpus);
}

}  // namespace

Result<OpenGpus> open_window_gpus(std::string_view list, bool as_cuda) {
  const auto request = request_of(list);
  if (!request) return fail(request.error());
  const auto world = request->backend == "nvml" ? world_of_run() : std::nullopt;
  if (!world && (request->items.empty() || !as_cuda)) return open_gpus(list);

  const std::string spec = world ? world->backend : request->backend;
  auto backend = device::open_backend(spec);
  if (!backend) return fail(std::move(backend.error()));
  const auto& gpus = (*backend)->gpus();
  const auto visible = variable("CUDA_VISIBLE_DEVICES");
  const std::string_view order = variable("CUDA_DEVICE_ORDER").value_or("");
  auto chosen = request->items.empty()
                    ? visible ? visible_of(*visible, order, gpus) : device::match_gpus(world->gpus, gpus)
                : as_cuda ? device::match_counted(request->items, gpus, visible, order)
                          : device::match_gpus(request->items, gpus);
  if (!chosen) return fail(std::move(chosen.error()));
  return open_selection({.backend = std::move(*backend), .chosen = std::move(*chosen), .spec = spec},
                        !list.empty());
}

}  // namespace rubato::cli
