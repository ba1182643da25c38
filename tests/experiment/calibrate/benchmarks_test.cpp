#include "experiment/calibrate/benchmarks.h"

#include <gmock/gmock.h>

#include "device/registry.h"
#include "device/sim/work.h"

namespace rubato::experiment {
namespace {

GpuFigures v100() {
  return *device::figures_of_board("Tesla V100-PCIE-16GB");
}

TEST(Benchmarks, UnknownNamesAreToldTheKnownOnes) {
  const auto found = find_benchmark("fp8");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().hint, ::testing::HasSubstr("fp32, fp64"));
}

TEST(Benchmarks, AUnitLastsAboutATenthOfASecondAtThePeakRates) {
  const auto rates = *predict::peak_rates(v100());
  for (const char* name : {"fp32", "fp64", "tensor-fp16", "bandwidth", "mixed-6", "mixed-48"}) {
    const Benchmark& b = **find_benchmark(name);
    const UnitPlan plan = unit_plan(b, v100());
    const double compute = plan.operations / (*rates.operations(*b.pipe) * 1380e6);
    const double memory = plan.bytes / (rates.bytes_per_clock * 877e6);
    EXPECT_NEAR(std::max(compute, memory), 0.1, 0.01) << name;
  }
}

TEST(Benchmarks, IntensityIsThatOfTheName) {
  for (const Benchmark& b : benchmarks()) {
    if (!b.operations_per_byte) continue;
    const UnitPlan plan = unit_plan(b, v100());
    EXPECT_DOUBLE_EQ(plan.operations / plan.bytes, *b.operations_per_byte) << b.name;
  }
  EXPECT_EQ((*find_benchmark("mixed-1.5"))->operations_per_byte, 1.5);
  EXPECT_EQ((*find_benchmark("mixed-48"))->operations_per_byte, 48);
}

TEST(Benchmarks, TheyStandOnBothSidesOfTheRidge) {
  const auto rates = *predict::peak_rates(v100());
  const double ridge = *predict::ridge(rates, predict::Pipe::fp32, Megahertz(1380), Megahertz(877));
  EXPECT_LT((*find_benchmark("mixed-6"))->operations_per_byte, ridge);
  EXPECT_GT((*find_benchmark("mixed-48"))->operations_per_byte, ridge);
}

TEST(Benchmarks, AnUnknownArchitectureStillGetsAUnit) {
  const UnitPlan plan = unit_plan(**find_benchmark("fp32"), {.compute_major = 99, .sm_count = 10});
  EXPECT_EQ(plan.shape.blocks, 240U);
  EXPECT_GT(plan.launches, 0U);
}

TEST(Benchmarks, EachOfTheSimulatedOnesIsAWorkloadOfTheSimulatedGpu) {
  int simulated = 0;
  for (const Benchmark& b : benchmarks()) {
    const auto work = device::sim::find_workload("calibrate-" + std::string(b.name));
    EXPECT_EQ(work.has_value(), b.simulated) << b.name;
    if (!work || !b.operations_per_byte) continue;
    ++simulated;
    // Its seconds are those of a V100 by its data sheet.
    const auto& segment = (*work)->segments.front();
    const auto rates = *predict::peak_rates(v100());
    const double operations = segment.compute_s * *rates.operations(predict::Pipe::fp32) * 1380e6;
    const double bytes = segment.memory_s * rates.bytes_per_clock * 877e6;
    if (*b.operations_per_byte > 0) {
      EXPECT_NEAR(operations / bytes, *b.operations_per_byte, 0.01 * *b.operations_per_byte) << b.name;
    }
  }
  EXPECT_EQ(simulated, 5);
}

TEST(Benchmarks, AreNoTrainings) {
  for (const auto& workload : device::sim::list_workloads())
    EXPECT_FALSE(workload.name.starts_with("calibrate-"));
}

}  // namespace
}  // namespace rubato::experiment
