#include "progress/gpoeo/spectrum.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace rubato::progress::gpoeo {
namespace {

using Complex = std::complex<double>;

std::size_t smallest_factor(std::size_t n) {
  for (std::size_t f = 2; f * f <= n; ++f)
    if (n % f == 0) return f;
  return n;
}

/// Cooley and Tukey's recursion over the smallest factors of any length: a prime one costs its square, which
/// a thousand samples can afford.
class Transform {
 public:
  Transform(std::span<const double> samples, std::size_t length)
      : samples_(samples), roots_(length), scratch_(length) {
    const double turn = -2 * std::numbers::pi / static_cast<double>(length);
    for (std::size_t i = 0; i < length; ++i) roots_[i] = std::polar(1.0, turn * static_cast<double>(i));
  }

  /// Of every `stride`-th sample from `first` on, as many values as there are of them.
  void run(std::size_t first, std::size_t stride, std::span<Complex> out) {
    const std::size_t n = out.size();
    if (n == 1) {
      out[0] = first < samples_.size() ? samples_[first] : 0;
      return;
    }
    const std::size_t parts = smallest_factor(n);
    const std::size_t part = n / parts;
    for (std::size_t r = 0; r < parts; ++r)
      run(first + r * stride, stride * parts, out.subspan(r * part, part));
    for (std::size_t k = 0; k < n; ++k) {
      Complex sum;
      for (std::size_t r = 0; r < parts; ++r) sum += out[r * part + k % part] * roots_[r * k % n * stride];
      scratch_[k] = sum;
    }
    for (std::size_t k = 0; k < n; ++k) out[k] = scratch_[k];
  }

 private:
  std::span<const double> samples_;
  std::vector<Complex> roots_;
  std::vector<Complex> scratch_;
};

}  // namespace

std::vector<double> magnitudes(std::span<const double> samples, std::size_t length) {
  std::vector<double> sizes;
  if (length == 0) return sizes;
  std::vector<Complex> spectrum(length);
  Transform(samples, length).run(0, 1, spectrum);
  sizes.reserve(length / 2);
  for (std::size_t k = 0; k < length / 2; ++k) sizes.push_back(std::abs(spectrum[k]));
  return sizes;
}

std::vector<std::size_t> local_maxima(std::span<const double> values) {
  std::vector<std::size_t> found;
  for (std::size_t i = 1; i + 1 < values.size(); ++i) {
    if (values[i] <= values[i - 1]) continue;
    std::size_t end = i;
    while (end + 1 < values.size() && values[end + 1] == values[i]) ++end;
    if (end + 1 < values.size() && values[end + 1] < values[i]) found.push_back((i + end) / 2);
    i = end;
  }
  return found;
}

}  // namespace rubato::progress::gpoeo
