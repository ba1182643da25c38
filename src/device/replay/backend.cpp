#include "device/replay/backend.h"

#include "device/replay/gpu_view.h"
#include "device/world_backend.h"

namespace rubato::device::replay {
namespace {

constexpr WorldNames kNames{"replay", "the world of replayed GPUs", "RUBATO_REPLAY_WORLD",
                            "RUBATO_REPLAY_GPUS"};

}  // namespace

static std::string driver_version_of(const ReplayWorld&) {
  return "replay";
}

static bool outlives_job_of(const ReplayWorld& world) {
  return world.outlives_job();
}

Result<std::unique_ptr<Backend>> open(std::string_view argument) {
  const Result<std::vector<ReplaySpec>> specs = parse_specs(argument);
  if (!specs) return fail(specs.error());
  Result<std::unique_ptr<ReplayWorld>> world = open_world_from_environment(*specs);
  if (!world) return fail(world.error());
  return std::make_unique<WorldBackend<ReplayWorld>>(std::move(*world), kNames);
}

}  // namespace rubato::device::replay
