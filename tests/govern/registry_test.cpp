#include "govern/registry.h"

#include <gmock/gmock.h>

namespace rubato::govern {
namespace {

using testing::HasSubstr;

TEST(StrategyRegistry, EveryEntryMakesAStrategyOfItsName) {
  StrategyRequest request;
  request.wanted.power_limit = 150_W;
  request.space = {.gpu = "Tesla V100-PCIE-16GB",
                   .axes = {{.knob = Knob::power_limit, .values = {100, 150, 200, 250}}},
                   .found = {.power_limit = 250_W},
                   .highest = {.power_limit = 250_W}};
  for (const StrategyEntry& entry : strategies()) {
    const auto strategy = make_strategy(entry.name, request);
    ASSERT_TRUE(strategy) << entry.name;
    EXPECT_EQ((*strategy)->name(), entry.name);
  }
}

TEST(StrategyRegistry, AnUnknownNameIsAnErrorThatSaysWhatThereIs) {
  const auto strategy = make_strategy("nonsense", {});
  ASSERT_FALSE(strategy);
  EXPECT_EQ(strategy.error().code, ErrorCode::not_found);
  EXPECT_THAT(strategy.error().what, HasSubstr("fixed, measure-only"));
}

TEST(StrategyRegistry, FixedWithoutASettingIsAnError) {
  EXPECT_EQ(make_strategy("fixed", {}).error().code, ErrorCode::invalid_argument);
}

TEST(StrategyRegistry, MeasureOnlyChangesNothingAndSaysWhy) {
  StrategyRequest request;
  request.reason = "nothing here outlives the job";
  const auto strategy = make_strategy("measure-only", request);
  Observation o;
  o.may_set = true;
  o.under_load = true;
  const Decision decision = (*strategy)->next(o);
  EXPECT_EQ(decision.action, Action::wait);
  EXPECT_EQ(decision.why, request.reason);
}

}  // namespace
}  // namespace rubato::govern
