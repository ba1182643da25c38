#include "progress/period/fft.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

namespace rubato::progress {

namespace {

using Complex = std::complex<double>;

Complex times(Complex a, Complex b) {  // without the checks for infinities of operator*
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Roots of unity for transforms of up to some length: those of the round that joins halves of h values stand
/// one after the other from place h on, so that a processor takes several at once.
struct Roots {
  std::size_t n = 1;
  std::vector<double> real;
  std::vector<double> imaginary;
};

const Roots& roots(std::size_t n) {
  thread_local Roots table;
  if (table.n >= n) return table;
  table.n = n;
  table.real.assign(n, 1.0);
  table.imaginary.assign(n, 0.0);
  for (std::size_t i = 0; i < n / 2; ++i) {
    const Complex root =
        std::polar(1.0, -2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
    table.real[n / 2 + i] = root.real();
    table.imaginary[n / 2 + i] = root.imag();
  }
  for (std::size_t half = n / 4; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) {
      table.real[half + i] = table.real[2 * (half + i)];
      table.imaginary[half + i] = table.imaginary[2 * (half + i)];
    }
  return table;
}

/// Real and imaginary parts apart: interleaved, no compiler takes two at once.
struct Parts {
  std::vector<double> real;
  std::vector<double> imaginary;
};

void reorder(std::span<const Complex> data, Parts& out) {
  out.real.resize(data.size());
  out.imaginary.resize(data.size());
  for (std::size_t i = 0, j = 0; i < data.size(); ++i) {
    out.real[j] = data[i].real();
    out.imaginary[j] = data[i].imag();
    std::size_t bit = data.size() >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
  }
}

/// The first two rounds turn by nothing but quarters.
void first_rounds(Parts& data) {
  auto& re = data.real;
  auto& im = data.imaginary;
  for (std::size_t base = 0; base < re.size(); base += 4) {
    const Complex a(re[base] + re[base + 1], im[base] + im[base + 1]);
    const Complex b(re[base] - re[base + 1], im[base] - im[base + 1]);
    const Complex c(re[base + 2] + re[base + 3], im[base + 2] + im[base + 3]);
    const Complex d(re[base + 2] - re[base + 3], im[base + 2] - im[base + 3]);
    re[base] = a.real() + c.real();
    im[base] = a.imag() + c.imag();
    re[base + 2] = a.real() - c.real();
    im[base + 2] = a.imag() - c.imag();
    re[base + 1] = b.real() + d.imag();
    im[base + 1] = b.imag() - d.real();
    re[base + 3] = b.real() - d.imag();
    im[base + 3] = b.imag() + d.real();
  }
}

/// Joins two halves of `half` values each.
void join(double* __restrict re, double* __restrict im, double* __restrict other_re,
          double* __restrict other_im, const double* __restrict turn_re, const double* __restrict turn_im,
          std::size_t half) {
  for (std::size_t i = 0; i < half; ++i) {
    const double odd_re = other_re[i] * turn_re[i] - other_im[i] * turn_im[i];
    const double odd_im = other_re[i] * turn_im[i] + other_im[i] * turn_re[i];
    other_re[i] = re[i] - odd_re;
    other_im[i] = im[i] - odd_im;
    re[i] += odd_re;
    im[i] += odd_im;
  }
}

}  // namespace

void transform(std::span<Complex> data) {
  const std::size_t n = data.size();
  if (n < 2) return;
  thread_local Parts parts;
  reorder(data, parts);
  const Roots& root = roots(n);
  std::size_t half = 1;
  if (n >= 4) {
    first_rounds(parts);
    half = 4;
  }
  for (; half < n; half *= 2)
    for (std::size_t base = 0; base < n; base += 2 * half) {
      double* re = parts.real.data() + base;
      double* im = parts.imaginary.data() + base;
      join(re, im, re + half, im + half, root.real.data() + half, root.imaginary.data() + half, half);
    }
  for (std::size_t i = 0; i < n; ++i) data[i] = {parts.real[i], parts.imaginary[i]};
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
