// Columns on one uniform grid: what correlation, smoothing and the cycle tracker work on.
#pragma once

#include <cstddef>
#include <vector>

#include "progress/period/samples.h"

namespace rubato::progress {

/// Several columns over the same grid, each in its own block of `size` values. Where a column was not read
/// for long, its values are zero once the mean is taken off, and say nothing.
struct Series {
  double begin_s = 0;
  double step_s = 0;
  std::size_t size = 0;
  std::vector<Column> which;  // what the blocks hold
  std::vector<std::vector<double>> columns;
  std::vector<std::vector<char>> known;
};

/// A column that varies, and how often: by its readings, or by what its sensor brings.
struct Paced {
  Column column = Column::power;
  double update_s = 0;
};
[[nodiscard]] std::vector<Paced> varying_columns(const Samples& samples, double begin_s, double end_s);

/// Means over the grid's bins, straight lines over short holes. Columns too slow for the grid are left out,
/// as long as there is a faster one.
[[nodiscard]] Series resample(const Samples& samples, double begin_s, double end_s, double step_s,
                              const std::vector<Paced>& columns);
/// The columns asked for, whether they vary or not.
[[nodiscard]] Series resample(const Samples& samples, double begin_s, double end_s, double step_s,
                              const std::vector<Column>& which);

/// Centred moving average over `width_s`; at both ends the nearest whole window.
[[nodiscard]] Series smooth(const Series& series, double width_s);

/// The series less its moving average: a cycle of the window's length, or of a whole fraction, stays as it
/// is.
[[nodiscard]] Series high_pass(const Series& series, double width_s);

/// `size` values of every column from `first` on.
[[nodiscard]] Series section(const Series& series, std::size_t first, std::size_t size);

/// Multiplies every column by its factor, so that products of all columns add up.
void scale(Series& series, const std::vector<double>& factors);

/// Mean over columns of x[i] * x[i + lag] over the mean of x[i]^2 in the parts compared; 0 where nothing is.
[[nodiscard]] double correlation(const Series& series, std::size_t lag);

/// Variance of all columns together.
[[nodiscard]] double power_of(const Series& series);

}  // namespace rubato::progress
