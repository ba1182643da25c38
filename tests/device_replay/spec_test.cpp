#include "device/replay/spec.h"

#include <gmock/gmock.h>

#include "device_replay/made_table.h"

namespace rubato::device::replay {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ReplaySpec one(std::string_view argument) {
  const auto specs = parse_specs(argument);
  EXPECT_TRUE(specs) << specs.error().what;
  return specs && specs->size() == 1 ? specs->front() : ReplaySpec{};
}

TEST(ReplaySpecs, ReadFileWorkloadAndSeconds) {
  const ReplaySpec spec = one("../a b/t.csv#cifar100/net/b1024@0.4");
  EXPECT_EQ(spec.file, "../a b/t.csv");
  EXPECT_EQ(spec.workload, "cifar100/net/b1024");
  EXPECT_EQ(spec.iteration, Seconds(0.4));
}

TEST(ReplaySpecs, WorkloadAndSecondsMayBeLeftOut) {
  EXPECT_EQ(one("t.csv").workload, "");
  EXPECT_EQ(one("t@2.csv").file, "t@2.csv") << "seconds stand behind '#' only";
  EXPECT_EQ(one("t.csv#w").iteration, std::nullopt);
  EXPECT_EQ(one("t.csv#@2").iteration, 2_s);
  EXPECT_EQ(one("t.csv#a@b@2").workload, "a@b");
}

TEST(ReplaySpecs, SeveralByComma) {
  const auto specs = parse_specs("t.csv#a, u.csv#b");
  ASSERT_TRUE(specs);
  ASSERT_EQ(specs->size(), 2U);
  EXPECT_EQ((*specs)[1].file, "u.csv");
  EXPECT_TRUE(parse_specs("")->empty());
}

TEST(ReplaySpecs, SayWhatIsWrongAndHowToWriteIt) {
  for (const std::string_view bad :
       {"#w", ",", "t.csv#w@", "t.csv#w@0", "t.csv#w@-1", "t.csv#w@nan", "t.csv#w@1e9"}) {
    const auto specs = parse_specs(bad);
    ASSERT_FALSE(specs) << bad;
    EXPECT_EQ(specs.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(specs.error().hint, HasSubstr("replay:FILE#WORKLOAD")) << bad;
  }
}

TEST(ReplaySelect, TakesTheRowsOfOneWorkload) {
  const SweepTable table = table_of("V,a,g,100,,,1,1,1\nV,b,g,100,,,2,1,2\nV,b,g,200,,,1,1,1\n");
  const auto source = select(table, "b", std::nullopt, "t.csv");
  ASSERT_TRUE(source) << source.error().what;
  EXPECT_EQ(source->table.rows.size(), 2U);
}

TEST(ReplaySelect, NeedsANameWhereThereAreSeveral) {
  const SweepTable table = table_of("V,a,g,100,,,1,1,1\nV,b,g,100,,,2,1,2\nW,b,g,100,,,1,1,1\n");
  const auto which = select(table, "", std::nullopt, "t.csv");
  ASSERT_FALSE(which);
  EXPECT_THAT(which.error().what, AllOf(HasSubstr("t.csv"), HasSubstr("2 workloads")));
  EXPECT_THAT(which.error().hint, HasSubstr("a, b"));
  const auto unknown = select(table, "c", std::nullopt, "t.csv");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::not_found);
  const auto two_gpus = select(table, "b", std::nullopt, "t.csv");
  ASSERT_FALSE(two_gpus);
  EXPECT_THAT(two_gpus.error().what, HasSubstr("on 2 GPUs: V, W"));
}

}  // namespace
}  // namespace rubato::device::replay
