#include "device/sim/backend.h"

#include "base/text.h"
#include "device/sim/gpu_view.h"
#include "device/world_backend.h"

namespace rubato::device::sim {
namespace {

constexpr WorldNames kNames{"sim", "the simulated world", "RUBATO_SIM_WORLD", "RUBATO_SIM_GPUS"};

}  // namespace

static std::string driver_version_of(const SimWorld& world) {
  return world.driver_version();
}

static bool outlives_job_of(const SimWorld& world) {
  return world.scenario().outlives_job;
}

Result<std::unique_ptr<Backend>> open(std::string_view argument) {
  std::vector<std::string> profiles;
  if (!trim(argument).empty())
    for (const std::string& name : split(argument, ',')) profiles.emplace_back(trim(name));
  Result<std::unique_ptr<SimWorld>> world = open_world_from_environment(profiles, Rights::owner);
  if (!world) return fail(world.error());
  const std::shared_ptr<SimWorld> shared = std::move(*world);
  if (Status started = shared->begin_call(CallId::open, 0, shared->clock()->now()); !started)
    return fail(started.error());
  return std::make_unique<WorldBackend<SimWorld>>(shared, kNames);
}

}  // namespace rubato::device::sim
