#include "analyse/kernels.h"

#include <gmock/gmock.h>

#include "made_training.h"

namespace rubato::analyse {
namespace {

using namespace testing_data;
using testing::SizeIs;

KernelRecord kernel(std::uint64_t name, Seconds from, Seconds to, std::uint64_t layer = 0) {
  return {.begin = kBegin + from, .end = kBegin + to, .name_hash = name, .layer = layer};
}

std::optional<KernelSummary> kernels(const record::RunRecord& run, std::size_t source = 0) {
  return kernels_of(run, sources_of(run)[source]);
}

TEST(Kernels, ShareTheEnergyOfTheRecordedStretchByTime) {
  record::RunRecord run = MadeTraining().wait(60_s, 200_W).ended();
  run.names = {{1, "gemm"}, {2, "softmax"}};
  run.kernel_cycles = {{kBegin + 10_s, kBegin + 20_s, 1, 5}};
  run.kernels = {kernel(1, 10_s, 16_s), kernel(2, 16_s, 18_s)};
  const auto k = kernels(run);
  ASSERT_TRUE(k);
  EXPECT_NEAR(k->recorded.value(), 10, 1e-9);
  EXPECT_NEAR(k->busy, 0.8, 1e-9);
  EXPECT_EQ(k->lost, 5U);
  ASSERT_THAT(k->names, SizeIs(2));
  EXPECT_EQ(k->names[0].name, "gemm");
  EXPECT_NEAR(k->names[0].energy->value(), 1200, 1);
  EXPECT_NEAR(k->names[1].energy->value(), 400, 1);
  EXPECT_EQ(k->kind, Kind::apportioned);
}

TEST(Kernels, AtTheSameMomentShareItEqually) {
  record::RunRecord run = MadeTraining().wait(60_s, 200_W).ended();
  run.kernel_cycles = {{kBegin + 10_s, kBegin + 20_s, 1, 0}};
  run.kernels = {kernel(1, 10_s, 18_s), kernel(2, 14_s, 18_s)};
  const auto k = kernels(run);
  ASSERT_THAT(k->names, SizeIs(2));
  EXPECT_NEAR(k->names[0].share, 0.6, 1e-9);  // 4 s alone and half of 4 s
  EXPECT_NEAR(k->names[1].share, 0.2, 1e-9);
  EXPECT_NEAR(k->names[1].time.value(), 4, 1e-9);
  EXPECT_NEAR(k->busy, 0.8, 1e-9);
}

TEST(Kernels, OfLayersAreThoseThatKnowTheirs) {
  record::RunRecord run = MadeTraining().wait(60_s, 200_W).ended();
  run.names[9] = "conv1";
  run.kernel_cycles = {{kBegin + 10_s, kBegin + 20_s, 1, 0}};
  run.kernels = {kernel(1, 10_s, 12_s, 9), kernel(1, 12_s, 14_s)};
  const auto k = kernels(run);
  ASSERT_THAT(k->layers, SizeIs(1));
  EXPECT_EQ(k->layers[0].name, "conv1");
  EXPECT_NEAR(k->layers[0].share, 0.2, 1e-9);
}

TEST(Kernels, WithoutADeviceBelongToNobodyWhereThereAreTwo) {
  record::RunRecord run = MadeTraining(2).wait(60_s, 200_W).ended();
  run.devices[1].info.identity.id.uuid = "GPU-01000000-0000-0000-0000-0000000000ff";
  run.kernels = {kernel(1, 10_s, 12_s), kernel(2, 12_s, 14_s)};
  run.kernels[1].device_uuid = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff};
  EXPECT_FALSE(kernels(run, 0));
  ASSERT_TRUE(kernels(run, 1));
  EXPECT_EQ(kernels(run, 1)->kernels, 1);
}

}  // namespace
}  // namespace rubato::analyse
