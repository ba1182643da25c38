#include "device/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/subject.h"

namespace rubato::device {
namespace {

using testing::HasSubstr;

TEST(Registry, NamesEveryBackendOnce) {
  std::vector<std::string_view> names;
  for (const BackendEntry& entry : backends()) names.push_back(entry.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("nvml", "sim", "replay"));
}

TEST(Registry, AnUnknownBackendNamesTheKnownOnes) {
  const auto backend = open_backend("abacus:1");
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, ErrorCode::not_found);
  EXPECT_THAT(backend.error().hint, HasSubstr("nvml, sim"));
}

TEST(SelectGpus, TwoSimItemsAreOneWorldOfTwoThatTheSpecOpensAgain) {
  const FreshWorld world({.name = "select", .profile = "v100,v100"}, "two");
  const auto selected = select_gpus("sim:v100,sim:v100", {});
  ASSERT_TRUE(selected) << selected.error().what;
  EXPECT_EQ(selected->spec, "sim:v100,v100");
  ASSERT_EQ(selected->chosen.size(), 2U);
  EXPECT_NE(selected->chosen[0].id, selected->chosen[1].id);
  const auto again = open_backend(selected->spec);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ((*again)->gpus()[1].id, selected->chosen[1].id);
}

TEST(SelectGpus, ThroughNvmlByIndexAndByCudaVisibleDevices) {
  const FreshWorld world({.name = "select", .profile = "v100,v100,v100"}, "three");
  const auto by_index = select_gpus("2,0", "1");
  ASSERT_TRUE(by_index) << by_index.error().what;
  EXPECT_EQ(by_index->spec, "nvml");
  ASSERT_EQ(by_index->chosen.size(), 2U);
  EXPECT_EQ(by_index->chosen[0].index, 2U);
  const auto visible = select_gpus("", "1");
  ASSERT_TRUE(visible) << visible.error().what;
  ASSERT_EQ(visible->chosen.size(), 1U);
  EXPECT_EQ(visible->chosen[0].index, 1U);
  const auto all = select_gpus("", {});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->chosen.size(), 3U);
  const auto none = select_gpus("", "");
  ASSERT_FALSE(none) << "set but empty hides every GPU";
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
}

TEST(SelectGpus, AnUnknownProfileIsNotFoundAndListsTheProfiles) {
  const FreshWorld world({.name = "select", .profile = "v100"}, "unknown");
  const auto selected = select_gpus("sim:gtx9999", {});
  ASSERT_FALSE(selected);
  EXPECT_EQ(selected.error().code, ErrorCode::not_found) << selected.error().what;
  EXPECT_THAT(selected.error().what + selected.error().hint, HasSubstr("v100"));
}

}  // namespace
}  // namespace rubato::device
