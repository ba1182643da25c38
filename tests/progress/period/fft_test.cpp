#include "progress/period/fft.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace rubato::progress {
namespace {

double direct(const std::vector<double>& x, std::size_t lag) {
  double sum = 0;
  for (std::size_t i = 0; i + lag < x.size(); ++i) sum += x[i] * x[i + lag];
  return sum;
}

TEST(Fft, AutocorrelationOfTwoSeriesAtOnceIsTheDirectSumOfEach) {
  Random random(3);
  std::vector<double> a(100);
  std::vector<double> b(100);
  for (auto& x : a) x = random.normal();
  for (auto& x : b) x = random.normal();
  const auto both = autocorrelate(a, b, 60);
  for (const std::size_t lag : {0U, 1U, 7U, 60U}) {
    EXPECT_NEAR(both.first[lag], direct(a, lag), 1e-9);
    EXPECT_NEAR(both.second[lag], direct(b, lag), 1e-9);
  }
}

TEST(Fft, AShorterTransformAfterALongerOneIsStillRight) {
  const std::vector<double> longer(1000, 1.0);
  EXPECT_NEAR(autocorrelate(longer, {}, 10).first[10], 990, 1e-6);
  const std::vector<double> shorter{1, 2, 3};
  EXPECT_NEAR(autocorrelate(shorter, {}, 2).first[1], 8, 1e-9);
}

}  // namespace
}  // namespace rubato::progress
