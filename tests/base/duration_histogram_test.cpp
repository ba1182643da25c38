#include "base/duration_histogram.h"

#include <gtest/gtest.h>

namespace rubato {
namespace {

std::size_t bin_of(Seconds duration) {
  DurationHistogram times;
  times.add(duration);
  for (std::size_t bin = 0; bin < DurationHistogram::kBins; ++bin)
    if (times.in(bin) == 1) return bin;
  return DurationHistogram::kBins;
}

TEST(DurationHistogram, EveryLengthIsInTheBinWhoseEndIsTheNextPreferredNumber) {
  const DurationHistogram times;
  EXPECT_EQ(times.up_to(bin_of(1e-9_s)), 1e-6_s);
  EXPECT_EQ(times.up_to(bin_of(1e-6_s)), 1e-6_s) << "an end belongs to its bin";
  EXPECT_EQ(times.up_to(bin_of(1.001e-6_s)), 1.25e-6_s);
  EXPECT_EQ(times.up_to(bin_of(4.9e-3_s)), 5e-3_s);
  EXPECT_EQ(times.up_to(bin_of(5.1e-3_s)), 6.3e-3_s);
  EXPECT_EQ(times.up_to(bin_of(100_s)), 100_s);
  for (std::size_t bin = 1; bin + 1 < DurationHistogram::kBins; ++bin) {
    const double step = times.up_to(bin).value() / times.up_to(bin - 1).value();
    EXPECT_GT(step, 1.2) << bin;
    EXPECT_LT(step, 1.2801) << bin;
  }
}

TEST(DurationHistogram, KeepsCountSumAndLongest) {
  DurationHistogram times;
  times.add(0.5_s);
  times.add(200_s);
  times.add(-1_s);  // a clock that went back: nothing
  EXPECT_EQ(times.count(), 3U);
  EXPECT_EQ(times.sum(), 200.5_s);
  EXPECT_EQ(times.longest(), 200_s);
  EXPECT_EQ(times.up_to(DurationHistogram::kBins - 1), 200_s) << "what no bin ends at is no longer than that";
}

}  // namespace
}  // namespace rubato
