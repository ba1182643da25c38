// A training program that is none: `rubato sim train`. It holds a compute context on a simulated GPU, takes
// as long as that GPU's clocks make it take, and writes marks like any other training under rubato.
#pragma once

#include "base/result.h"
#include "simgpu/trainer/virtual_trainer.h"

namespace rubato::sim_trainer {

/// Runs to the end; the result is the exit status. Needs RUBATO_SIM_WORLD. SIGTERM, SIGINT and SIGHUP take
/// the context off the GPU, then this process dies of the signal.
[[nodiscard]] Result<int> train(const TrainOptions& options);

}  // namespace rubato::sim_trainer
