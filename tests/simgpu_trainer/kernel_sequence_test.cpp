#include "simgpu/trainer/kernel_sequence.h"

#include <gtest/gtest.h>

#include <set>

#include "rubato/mark_layout.h"

namespace rubato::sim_trainer {
namespace {

// One segment without work, one of which half is kernels and one that is nothing but kernels: 1 + 2 + 1
// seconds.
GpuIteration iteration(double stretch = 1.0) {
  return {.begin = TimePoint{1'000'000'000},
          .end = TimePoint{1'000'000'000} + Seconds(4 * stretch),
          .segments = {{.phase = RUBATO_PHASE_DATA, .fixed_s = 1},
                       {.phase = RUBATO_PHASE_FORWARD, .compute_s = 1, .memory_s = 0.5, .fixed_s = 1},
                       {.phase = RUBATO_PHASE_OPTIMIZER, .compute_s = 0.1, .memory_s = 1}},
          .runs = {{.seconds = 1, .kernel_busy = 0},
                   {.seconds = 2, .compute_busy = 0.5, .memory_busy = 0.25, .kernel_busy = 0.5},
                   {.seconds = 1, .compute_busy = 0.1, .memory_busy = 1, .kernel_busy = 1}}};
}

double busy(const std::vector<SimKernel>& kernels, std::uint32_t phase) {
  double sum = 0.0;
  for (const SimKernel& k : kernels)
    if (k.phase == phase) sum += (k.end - k.begin).value();
  return sum;
}

TEST(KernelSequence, KernelsTakeTheSegmentsTimeLessWhatIsSpentOutsideThem) {
  const auto kernels = kernels_of(iteration());
  EXPECT_EQ(busy(kernels, RUBATO_PHASE_DATA), 0.0);
  EXPECT_NEAR(busy(kernels, RUBATO_PHASE_FORWARD), 1.0, 1e-6);
  EXPECT_NEAR(busy(kernels, RUBATO_PHASE_OPTIMIZER), 1.0, 1e-6);
}

TEST(KernelSequence, NoneOverlapsAnotherOrLeavesTheIteration) {
  const GpuIteration i = iteration();
  TimePoint last = i.begin;
  for (const SimKernel& k : kernels_of(i)) {
    EXPECT_GE(k.begin, last);
    EXPECT_GT(k.end, k.begin);
    last = k.end;
  }
  EXPECT_LE(last, i.end + Seconds(1e-6));
  EXPECT_NEAR(kernels_of(i).front().begin.since_epoch().value(), 2.0, 1e-6) << "the first segment has none";
}

TEST(KernelSequence, AnIterationThatTookTwiceAsLongHasTheSameKernelsTwiceAsLong) {
  const auto usual = kernels_of(iteration());
  const auto slow = kernels_of(iteration(2.0));
  ASSERT_EQ(usual.size(), slow.size());
  for (std::size_t i = 0; i < usual.size(); ++i) {
    EXPECT_EQ(usual[i].name, slow[i].name);
    EXPECT_EQ(usual[i].grid, slow[i].grid);
    EXPECT_NEAR((slow[i].end - slow[i].begin).value(), 2 * (usual[i].end - usual[i].begin).value(), 1e-6);
  }
}

TEST(KernelSequence, SegmentsAreToldApartByNameAndPhase) {
  std::set<std::string> forward;
  std::set<std::string> optimizer;
  for (const SimKernel& k : kernels_of(iteration()))
    (k.phase == RUBATO_PHASE_FORWARD ? forward : optimizer).insert(k.name);
  EXPECT_EQ(forward, (std::set<std::string>{"sim_forward_1_product", "sim_forward_1_elementwise"}));
  EXPECT_EQ(optimizer, (std::set<std::string>{"sim_optimizer_2_elementwise"}));
}

TEST(KernelSequence, WithoutSegmentsThereAreNone) {
  EXPECT_TRUE(kernels_of({.end = TimePoint{5}}).empty());
}

}  // namespace
}  // namespace rubato::sim_trainer
