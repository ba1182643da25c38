// The magnitude spectrum of a short trace of any length, and its peaks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rubato::progress::gpoeo {

/// At k / length cycles per sample, k below length / 2; `samples` are padded with zeros to `length`.
[[nodiscard]] std::vector<double> magnitudes(std::span<const double> samples, std::size_t length);
/// Where a value is higher than what stands on both sides; of a flat top the middle.
[[nodiscard]] std::vector<std::size_t> local_maxima(std::span<const double> values);

}  // namespace rubato::progress::gpoeo
