#include "experiment/advise/built_in.h"

#include "predict/physical/physical.h"

namespace rubato::experiment {

Result<std::unique_ptr<predict::Model>> built_in_model(std::span<const Knob> knobs) {
  return predict::physical::physical_learner().learn({}, knobs);
}

ModelFacts built_in_facts() {
  return {.name = "the built-in model of physics and data sheets",
          .gpus_seen = {},
          // docs/evidence/built-in-advice.md: five GPUs, each shown by its default rows alone.
          .on_unseen_gpus = SavingInterval{0.002, 0.025}};
}

}  // namespace rubato::experiment
