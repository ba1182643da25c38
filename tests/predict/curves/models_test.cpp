#include <gmock/gmock.h>

#include <set>

#include "predict/model.h"

namespace rubato::predict {
namespace {

TEST(Models, EveryNameLeadsToTheLearnerOfThatName) {
  std::set<std::string_view> seen;
  for (const std::string_view name : learner_names()) {
    const auto learner = find_learner(name);
    ASSERT_TRUE(learner) << learner.error().what;
    EXPECT_EQ((*learner)->name(), name);
    EXPECT_TRUE(seen.insert(name).second) << name << " stands there twice";
  }
  EXPECT_TRUE(seen.contains("mean-curve"));
}

TEST(Models, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  const auto learner = find_learner("oracle");
  ASSERT_FALSE(learner);
  EXPECT_THAT(learner.error().what, testing::HasSubstr("'oracle'"));
  EXPECT_THAT(learner.error().hint, testing::HasSubstr("mean-curve"));
}

}  // namespace
}  // namespace rubato::predict
