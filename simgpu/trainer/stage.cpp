#include "simgpu/trainer/stage.h"

#include <cstdlib>

#include "base/text.h"
#include "device/replay/board.h"
#include "device/sim/work.h"
#include "device/sim/workload_model.h"

namespace rubato::sim_trainer {
namespace {

constexpr std::string_view kReplay = "replay";

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

/// The GPU of the run, of those that `variable` names; without it the option counts in the world.
template <class World>
Result<int> choose_gpu(const World& world, int wanted, const char* variable) {
  const char* named = std::getenv(variable);
  if (named == nullptr || *named == '\0') {
    if (wanted >= 0 && static_cast<unsigned>(wanted) < world.gpu_count()) return wanted;
    return fail(ErrorCode::not_found, cat("the world ", world.path().string(), " has ", world.gpu_count(),
                                          " GPUs, and none of index ", wanted));
  }
  const std::vector<std::string> uuids = split(named, ',');
  if (wanted < 0 || static_cast<std::size_t>(wanted) >= uuids.size())
    return fail(ErrorCode::not_found,
                cat(variable, " names ", uuids.size(), " GPUs, and none of index ", wanted));
  const std::string& uuid = uuids[static_cast<std::size_t>(wanted)];
  if (const std::optional<unsigned> index = world.find(uuid)) return static_cast<int>(*index);
  return fail(ErrorCode::not_found, cat("the world ", world.path().string(), " has no GPU ", uuid));
}

template <class World>
Status choose_gpus(const World& world, TrainOptions& options, const char* variable) {
  const auto gpu = choose_gpu(world, options.gpu, variable);
  if (!gpu) return fail(gpu.error());
  options.gpu = *gpu;
  for (int& one : options.beside) {
    const auto beside = choose_gpu(world, one, variable);
    if (!beside) return fail(beside.error());
    one = *beside;
  }
  return {};
}

template <class World>
Stage make_stage(const std::shared_ptr<World>& world, const std::string& workload,
                 const TrainOptions& chosen) {
  return {.clock = world->clock(),
          .workload = workload,
          .gpu_uuid = world->identity(static_cast<unsigned>(chosen.gpu)).id.uuid,
          .model = {},
          .start = [world, chosen](std::int64_t pid, TimePoint now, VirtualTrainer::OnMark on_mark) {
            return VirtualTrainer::start(*world, chosen, pid, now, std::move(on_mark));
          }};
}

Result<Stage> replayed(TrainOptions options) {
  const auto path = device::replay::world_path_from_environment();
  if (!path)
    return fail(ErrorCode::unavailable,
                "RUBATO_REPLAY_WORLD is not set, so there is no replayed GPU to train on",
                "run it under rubato: rubato run --gpu replay:FILE#WORKLOAD -- rubato sim train replay");
  auto world = device::replay::ReplayWorld::open(*path);
  if (!world) return fail(world.error());
  if (const Status s = choose_gpus(**world, options, "RUBATO_REPLAY_GPUS"); !s) return fail(s.error());
  const std::shared_ptr shared(std::move(*world));
  return make_stage(shared, shared->board(static_cast<unsigned>(options.gpu)).workload(), options);
}

Result<Stage> simulated(TrainOptions options) {
  if (const auto known = device::sim::find_workload(options.workload); !known) return fail(known.error());
  const auto path = device::sim::world_path_from_environment();
  if (!path)
    return fail(ErrorCode::unavailable,
                "RUBATO_SIM_WORLD is not set, so there is no simulated GPU to train on",
                "run it under rubato: rubato run --gpu sim:v100 -- rubato sim train resnet50");
  auto world = device::sim::SimWorld::open(*path);
  if (!world) return fail(world.error());
  if (const Status s = choose_gpus(**world, options, "RUBATO_SIM_GPUS"); !s) return fail(s.error());
  Stage stage = make_stage(std::shared_ptr(std::move(*world)), options.workload, options);
  stage.model = device::sim::model_of_workload(options.workload);
  return stage;
}

}  // namespace

Result<Stage> stage_for(const TrainOptions& options) {
  const bool run_replays = is_set("RUBATO_REPLAY_GPUS");
  if (options.workload == kReplay || (options.workload.empty() && run_replays)) return replayed(options);
  if (run_replays)
    return fail(ErrorCode::invalid_argument,
                cat("this run's GPU replays a table, which has no workload '", options.workload, "'"),
                "rubato sim train replay");
  if (options.workload.empty())
    return fail(ErrorCode::invalid_argument, "which workload is to be trained?", "rubato sim workloads");
  return simulated(options);
}

}  // namespace rubato::sim_trainer
