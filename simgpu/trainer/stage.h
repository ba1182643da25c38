// Where a training process trains: the world, the GPU in it and the workload, found from the environment.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/trained_model.h"
#include "simgpu/trainer/virtual_trainer.h"

namespace rubato::sim_trainer {

struct Stage {
  std::shared_ptr<const Clock> clock;
  std::string workload;
  std::string gpu_uuid;
  std::optional<TrainedModel> model;
  /// Holds the world for as long as the stage lives.
  std::function<Result<std::unique_ptr<VirtualTrainer>>(std::int64_t pid, TimePoint now,
                                                        VirtualTrainer::OnMark on_mark)>
      start;
};

/// The workload "replay", or none where the run's GPU replays a table (RUBATO_REPLAY_GPUS), is the table's
/// own in the world RUBATO_REPLAY_WORLD; any other is one of the simulator's in RUBATO_SIM_WORLD.
[[nodiscard]] Result<Stage> stage_for(const TrainOptions& options);

}  // namespace rubato::sim_trainer
