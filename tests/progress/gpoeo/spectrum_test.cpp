#include "progress/gpoeo/spectrum.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

namespace rubato::progress::gpoeo {
namespace {

double magnitude_by_definition(const std::vector<double>& samples, std::size_t length, std::size_t k) {
  std::complex<double> sum;
  for (std::size_t i = 0; i < samples.size(); ++i)
    sum += samples[i] *
           std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i * k) / static_cast<double>(length));
  return std::abs(sum);
}

RC_GTEST_PROP(Spectrum, AgreesWithTheDefinitionAtAnyLength, ()) {
  const auto length = *rc::gen::inRange<std::size_t>(1, 130);
  const auto filled = *rc::gen::inRange<std::size_t>(1, length + 1);
  const auto whole = *rc::gen::container<std::vector<int>>(filled, rc::gen::inRange(-1000, 1000));
  const std::vector<double> samples(whole.begin(), whole.end());
  const std::vector<double> sizes = magnitudes(samples, length);
  RC_ASSERT(sizes.size() == length / 2);
  for (std::size_t k = 0; k < sizes.size(); ++k)
    RC_ASSERT(std::abs(sizes[k] - magnitude_by_definition(samples, length, k)) < 1e-6);
}

TEST(Spectrum, ASineHasOnePeakAtItsFrequency) {
  std::vector<double> samples;
  for (int i = 0; i < 250; ++i) samples.push_back(std::sin(2 * std::numbers::pi * 10 * i / 250));
  const std::vector<double> sizes = magnitudes(samples, samples.size());
  EXPECT_NEAR(sizes[10], 125, 1e-9);
  EXPECT_NEAR(sizes[9], 0, 1e-9);
}

TEST(Spectrum, AFlatTopIsOnePeakInItsMiddle) {
  EXPECT_THAT(local_maxima(std::vector<double>{0, 2, 2, 2, 0, 1, 0, 3}), testing::ElementsAre(2, 5));
  EXPECT_THAT(local_maxima(std::vector<double>{1, 1, 1}), testing::IsEmpty());
  EXPECT_THAT(local_maxima(std::vector<double>{}), testing::IsEmpty());
}

}  // namespace
}  // namespace rubato::progress::gpoeo
