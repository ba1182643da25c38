#include "cli/layers_measured.h"

#include <gmock/gmock.h>

namespace rubato::cli {
namespace {

using testing::HasSubstr;

TimePoint at_s(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

KernelRecord kernel(double begin, double length, std::uint64_t layer) {
  KernelRecord out;
  out.begin = at_s(begin);
  out.end = at_s(begin + length);
  out.layer = layer;
  return out;
}

/// Iterations of 1 s from 0 to 10 s, kernels recorded from 2 s to 4.5 s by one process.
record::RunRecord run_of(std::vector<KernelRecord> kernels) {
  record::RunRecord run;
  run.info.run_id = "r1";
  for (int i = 0; i < 10; ++i) run.iterations.push_back({i, at_s(i), at_s(i + 1), ProgressSource::marks});
  run.kernel_cycles.push_back({at_s(2), at_s(4.5), 7, 0});
  run.names[77] = "layer1.conv";
  run.kernels = std::move(kernels);
  return run;
}

TEST(MeasuredLayers, are_the_mean_of_the_iterations_that_were_recorded) {
  const auto measured = measured_layers(
      run_of({kernel(2, 0.5, 77), kernel(3, 0.25, 77), kernel(4, 0.25, 77), kernel(4.3, 0.1, 0)}));
  ASSERT_TRUE(measured) << measured.error().what;
  EXPECT_DOUBLE_EQ(measured->iterations, 2.5);
  ASSERT_EQ(measured->time.size(), 1U) << "a kernel of no layer is in none";
  EXPECT_DOUBLE_EQ(measured->time.at("layer1.conv").value(), 1.0 / 2.5);
}

TEST(MeasuredLayers, of_two_processes_are_those_of_one) {
  record::RunRecord run = run_of({kernel(2, 0.5, 77), kernel(2, 0.5, 77)});
  run.kernel_cycles.push_back({at_s(2), at_s(4.5), 8, 0});
  EXPECT_DOUBLE_EQ(measured_layers(run)->time.at("layer1.conv").value(), 0.5 / 2.5);
}

TEST(MeasuredLayers, may_be_no_more_than_phases) {
  const auto measured = measured_layers(run_of({kernel(2, 0.5, 2)}));
  ASSERT_TRUE(measured) << measured.error().what;
  EXPECT_TRUE(measured->time.contains("backward"));
}

TEST(MeasuredLayers, say_what_a_run_lacks) {
  EXPECT_THAT(measured_layers(run_of({})).error().what, HasSubstr("run r1 holds no kernel records"));
  EXPECT_THAT(measured_layers(run_of({kernel(2, 0.5, 0)})).error().what, HasSubstr("none knows the layer"));
  record::RunRecord run = run_of({kernel(2, 0.5, 77)});
  run.iterations.clear();
  EXPECT_THAT(measured_layers(run).error().what, HasSubstr("less than one known iteration"));
}

}  // namespace
}  // namespace rubato::cli
