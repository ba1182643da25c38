#include <gmock/gmock.h>

#include "feature/provider.h"
#include "feature/training_gpu.h"

namespace rubato::feature {
namespace {

using testing::HasSubstr;

std::string_view chosen(Guise guise) {
  TrainingGpu gpu(guise);
  const auto provider = open_provider("auto", gpu);
  return provider ? (*provider)->facts().name : "none";
}

TEST(ProviderRegistry, AutoTakesTheBestThatWorks) {
  EXPECT_EQ(chosen(Guise::hardware), "gpm");
  EXPECT_EQ(chosen(Guise::simulated), "simulated");
}

TEST(ProviderRegistry, SimulatedCountsNeverPassForMeasuredOnes) {
  TrainingGpu simulated(Guise::simulated);
  const auto gpm = open_provider("gpm", simulated);
  ASSERT_TRUE(gpm);
  EXPECT_THAT((*gpm)->availability().why_not, HasSubstr("simulated"));
  TrainingGpu hardware(Guise::hardware);
  EXPECT_FALSE((*open_provider("simulated", hardware))->availability().available);
}

TEST(ProviderRegistry, ANameThatIsNoneListsThemAll) {
  TrainingGpu gpu(Guise::hardware);
  const auto provider = open_provider("perfmon", gpu);
  ASSERT_FALSE(provider);
  EXPECT_EQ(provider.error().code, ErrorCode::invalid_argument);
  for (const ProviderKind& kind : provider_kinds())
    EXPECT_THAT(provider.error().hint, HasSubstr(std::string(kind.facts.name)));
}

TEST(ProviderRegistry, WhereNothingCountsEveryReasonIsGiven) {
  TrainingGpu gpu(Guise::mute);
  const auto provider = open_provider("auto", gpu);
  ASSERT_FALSE(provider);
  EXPECT_EQ(provider.error().code, ErrorCode::not_supported);
  for (const ProviderKind& kind : provider_kinds())
    EXPECT_THAT(provider.error().what, HasSubstr(std::string(kind.facts.name) + ": "));
}

TEST(ProviderRegistry, AutoStartsNoCuda) {
  for (const ProviderKind& kind : provider_kinds()) EXPECT_EQ(kind.only_by_name, kind.facts.name == "cupti");
}

TEST(ProviderRegistry, TheLastResortComesLast) {
  EXPECT_EQ(provider_kinds().back().facts.name, "utilisation");
}

}  // namespace
}  // namespace rubato::feature
