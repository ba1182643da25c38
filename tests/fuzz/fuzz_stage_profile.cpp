#include "fuzz/target.h"
#include "plan/pipeline/stage_profile.h"

// What is taken has no hole: every stage has both passes at the same clocks, from the highest down.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rubato;
  const auto profile = plan::read_stage_profile(fuzz::text_of(data, size), "profile.csv");
  if (!profile) return 0;
  const auto& clocks = profile->stages.at(0).of(plan::PipelinePass::forward);
  for (const plan::Stage& stage : profile->stages)
    for (const plan::PipelinePass pass : plan::kPipelinePasses) {
      fuzz::require(stage.of(pass).size() == clocks.size());
      for (std::size_t i = 0; i < clocks.size(); ++i) {
        const plan::StageOption& option = stage.of(pass)[i];
        fuzz::require(option.frequency == clocks[i].frequency && option.time > Seconds(0));
        fuzz::require(i == 0 || option.frequency < clocks[i - 1].frequency);
      }
    }
  return 0;
}
