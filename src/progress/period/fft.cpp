#include "progress/period/fft.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

namespace rubato::progress {

namespace {

using Complex = std::complex<double>;

Complex times(Complex a, Complex b) {  // without the checks for infinities of operator*
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

void reorder(std::span<Complex> data) {
  for (std::size_t i = 1, j = 0; i < data.size(); ++i) {
    std::size_t bit = data.size() >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(data[i], data[j]);
  }
}

/// Roots of unity for the longest transform seen so far; a shorter one takes every so-many-th.
const std::vector<Complex>& roots(std::size_t n) {
  thread_local std::vector<Complex> table;
  if (table.size() * 2 < n) {
    table.resize(n / 2);
    for (std::size_t i = 0; i < n / 2; ++i)
      table[i] = std::polar(1.0, -2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
  }
  return table;
}

}  // namespace

void transform(std::span<Complex> data) {
  const std::size_t n = data.size();
  if (n < 2) return;
  reorder(data);
  const std::vector<Complex>& root = roots(n);
  std::size_t half = 1;
  if (n >= 4) {  // the first two rounds turn by nothing but quarters
    for (std::size_t base = 0; base < n; base += 4) {
      const Complex a = data[base] + data[base + 1];
      const Complex b = data[base] - data[base + 1];
      const Complex c = data[base + 2] + data[base + 3];
      const Complex d = data[base + 2] - data[base + 3];
      const Complex turned(d.imag(), -d.real());
      data[base] = a + c;
      data[base + 2] = a - c;
      data[base + 1] = b + turned;
      data[base + 3] = b - turned;
    }
    half = 4;
  }
  for (; half < n; half *= 2) {
    const std::size_t stride = root.size() / half;
    for (std::size_t base = 0; base < n; base += 2 * half) {
      for (std::size_t i = 0; i < half; ++i) {
        const Complex odd = times(data[base + half + i], root[i * stride]);
        data[base + half + i] = data[base + i] - odd;
        data[base + i] += odd;
      }
    }
  }
}

PairCorrelation autocorrelate(std::span<const double> first, std::span<const double> second,
                              std::size_t max_lag) {
  const std::size_t n = std::bit_ceil(first.size() + max_lag + 1);
  std::vector<Complex> data(n);
  for (std::size_t i = 0; i < first.size(); ++i) data[i] = {first[i], i < second.size() ? second[i] : 0.0};
  transform(data);
  std::vector<Complex> power(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Complex mirrored = std::conj(data[(n - i) & (n - 1)]);
    const Complex a = (data[i] + mirrored) * 0.5;
    const Complex b = times(data[i] - mirrored, {0.0, -0.5});
    power[i] = {std::norm(a), std::norm(b)};
  }
  transform(power);  // power is symmetric, so forward and backward agree up to the factor n
  PairCorrelation out;
  out.first.resize(max_lag + 1);
  out.second.resize(max_lag + 1);
  for (std::size_t lag = 0; lag <= max_lag; ++lag) {
    out.first[lag] = power[lag].real() / static_cast<double>(n);
    out.second[lag] = power[lag].imag() / static_cast<double>(n);
  }
  return out;
}

}  // namespace rubato::progress
