// The one transform the period detector needs: the autocorrelation of short real series.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace rubato::progress {

/// In place, radix 2; the length is a power of two.
void transform(std::span<std::complex<double>> data);

/// Sums of products x[i] * x[i + lag] for lag 0..max_lag of two series of equal length at the price of one
/// complex transform each way: the first is carried as the real part, the second as the imaginary part.
struct PairCorrelation {
  std::vector<double> first;
  std::vector<double> second;
};
[[nodiscard]] PairCorrelation autocorrelate(std::span<const double> first, std::span<const double> second,
                                            std::size_t max_lag);

}  // namespace rubato::progress
