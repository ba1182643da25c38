#include "progress/period/series.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rubato::progress {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();  // inside this file: an empty bin

constexpr double kSparse = 4;  // grid steps between two values: more, and periods of the grid are aliases

/// Fills holes of up to `longest` bins by a straight line; marks the others as unknown.
void fill(std::vector<double>& values, std::vector<char>& known, std::size_t longest) {
  std::size_t last = values.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    const bool bridge = last < values.size() && i - last <= longest;
    for (std::size_t j = last < values.size() ? last + 1 : 0; j < i; ++j) {
      const double part =
          last < values.size() ? static_cast<double>(j - last) / static_cast<double>(i - last) : 0;
      values[j] = bridge ? values[last] + part * (values[i] - values[last]) : values[i];
      known[j] = bridge ? 1 : 0;
    }
    last = i;
  }
  for (std::size_t j = last + 1; j < values.size() && last < values.size(); ++j) {
    values[j] = values[last];
    known[j] = j - last <= longest ? 1 : 0;
  }
}

/// A moving average's window: from `head` into the value `first` to `tail` into the value `last`.
struct Window {
  std::size_t first = 0;
  std::size_t last = 0;
  double head = 0;
  double tail = 0;
  [[nodiscard]] double sum(const std::vector<double>& sums) const {
    return sums[last] - sums[first] + tail * (sums[last + 1] - sums[last]) -
           head * (sums[first + 1] - sums[first]);
  }
};

/// Of `width` values, centred on the value `i` of `n` but for both ends.
Window window_at(std::size_t i, std::size_t n, double width) {
  const double from =
      std::clamp(static_cast<double>(i) + 0.5 - 0.5 * width, 0.0, static_cast<double>(n) - width);
  const double to = from + width;
  const auto first = static_cast<std::size_t>(from);
  const auto last = std::min(static_cast<std::size_t>(to), n - 1);
  return {first, last, from - static_cast<double>(first), to - static_cast<double>(last)};
}

void add_up(const std::vector<double>& x, std::vector<double>& sums) {
  const std::size_t n = x.size();
  double before = 0;
  std::size_t i = 0;
  // Four at a time: one addition waits for the one before.
  for (; i + 4 <= n; i += 4) {
    const double two = x[i] + x[i + 1];
    const double three = two + x[i + 2];
    sums[i + 1] = before + x[i];
    sums[i + 2] = before + two;
    sums[i + 3] = before + three;
    before += three + x[i + 3];
    sums[i + 4] = before;
  }
  for (; i < n; ++i) sums[i + 1] = before += x[i];
}

/// Of a column known throughout. Between both ends all windows begin and end at the same place from their
/// middle.
template <class Combine>
void combine_known(const std::vector<double>& x, const std::vector<double>& sums, double width,
                   const Combine& combine, std::vector<double>& out) {
  const std::size_t n = x.size();
  const double reach = 0.5 * width - 0.5;
  const auto back = static_cast<std::size_t>(std::ceil(reach));
  const auto ahead = static_cast<std::size_t>(reach + 1);
  const double head = static_cast<double>(back) - reach;
  const double tail = reach + 1 - static_cast<double>(ahead);
  const std::size_t begin = std::min(back, n);
  const std::size_t end = n - std::min(n, ahead);
  const double left = window_at(0, n, width).sum(sums) / width;
  const double right = window_at(n - 1, n, width).sum(sums) / width;
  std::size_t i = 0;
  for (; i < begin && i < end; ++i) out[i] = combine(x[i], left);
  for (; i < end; ++i) {
    const double sum = sums[i + ahead] - sums[i - back] + tail * x[i + ahead] - head * x[i - back];
    out[i] = combine(x[i], sum / width);
  }
  // Where hardly anything lies between both ends, windows at the one may still reach the other.
  for (; i < n; ++i) out[i] = combine(x[i], end > begin ? right : window_at(i, n, width).sum(sums) / width);
}

/// Calls `combine(value, average)` for every value; the window's ends lie between grid points where need be.
template <class Combine>
Series with_moving_average(const Series& series, double width_s, Combine combine) {
  const std::size_t n = series.size;
  Series out{series.begin_s, series.step_s, n, series.which, {}, series.known};
  out.columns.reserve(series.columns.size());
  for (std::size_t c = 0; c < series.columns.size(); ++c) out.columns.emplace_back(n);
  if (n == 0) return out;
  const double width = std::clamp(width_s / series.step_s, 1.0, static_cast<double>(n));
  std::vector<double> sums(n + 1);
  std::vector<double> counts;
  for (std::size_t c = 0; c < series.columns.size(); ++c) {
    const auto& x = series.columns[c];
    const auto& known = series.known[c];
    if (std::find(known.begin(), known.end(), 0) == known.end()) {
      add_up(x, sums);
      combine_known(x, sums, width, combine, out.columns[c]);
      continue;
    }
    counts.assign(n + 1, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      sums[i + 1] = sums[i] + (known[i] != 0 ? x[i] : 0.0);
      counts[i + 1] = counts[i] + (known[i] != 0 ? 1.0 : 0.0);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const Window window = window_at(i, n, width);
      const double count = window.sum(counts);
      const double average = count > 0.5 ? window.sum(sums) / count : x[i];
      out.columns[c][i] = known[i] != 0 ? combine(x[i], average) : combine(average, average);
    }
  }
  return out;
}

}  // namespace

Series resample(const Samples& samples, double begin_s, double end_s, double step_s,
                const std::vector<Column>& which) {
  Series out{begin_s, step_s, 0, which, {}, {}};
  if (!(end_s > begin_s)) return out;
  out.size = static_cast<std::size_t>((end_s - begin_s) / step_s);
  std::vector<double> sums(out.size);
  std::vector<int> counts(out.size);
  for (const Column column : which) {
    const auto& kept = samples.column(column);
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(counts.begin(), counts.end(), 0);
    auto it = std::lower_bound(kept.begin(), kept.end(), begin_s,
                               [](const ColumnSample& s, double t) { return s.at_s < t; });
    std::size_t filled = 0;
    for (; it != kept.end(); ++it) {
      const auto bin = static_cast<std::size_t>((it->at_s - begin_s) / step_s);
      if (bin >= out.size) break;
      sums[bin] += it->value;
      filled += counts[bin]++ == 0 ? 1 : 0;
    }
    std::vector<double> values(out.size, kNan);
    for (std::size_t i = 0; i < out.size; ++i)
      if (counts[i] > 0) values[i] = sums[i] / counts[i];
    std::vector<char> known(out.size, filled > 0 ? 1 : 0);
    const double typical =
        static_cast<double>(out.size) / static_cast<double>(std::max<std::size_t>(filled, 1));
    if (filled > 0)
      fill(values, known, static_cast<std::size_t>(3 + 4 * typical));
    else
      std::fill(values.begin(), values.end(), 0.0);
    out.columns.push_back(std::move(values));
    out.known.push_back(std::move(known));
  }
  return out;
}

std::vector<Paced> varying_columns(const Samples& samples, double begin_s, double end_s) {
  std::vector<Paced> out;
  for (std::size_t c = 0; c < kColumns; ++c) {
    const auto& kept = samples.column(static_cast<Column>(c));
    const auto earlier = [](const ColumnSample& s, double t) { return s.at_s < t; };
    const auto from = std::lower_bound(kept.begin(), kept.end(), begin_s, earlier);
    const auto to = std::lower_bound(from, kept.end(), end_s, earlier);
    if (to - from < 8) continue;
    const bool flat = std::all_of(from, to, [&](const ColumnSample& s) { return s.value == from->value; });
    if (flat) continue;
    const double pace_s = ((to - 1)->at_s - from->at_s) / static_cast<double>(to - from);
    out.push_back({static_cast<Column>(c), std::max(pace_s, samples.longest_hold_s(static_cast<Column>(c)))});
  }
  return out;
}

Series resample(const Samples& samples, double begin_s, double end_s, double step_s,
                const std::vector<Paced>& columns) {
  double least_s = std::numeric_limits<double>::infinity();
  for (const Paced& column : columns) least_s = std::min(least_s, column.update_s);
  std::vector<Column> which;
  for (const Paced& column : columns)
    if (column.column == Column::power || column.update_s <= std::max(kSparse * step_s, 1.5 * least_s))
      which.push_back(column.column);
  return resample(samples, begin_s, end_s, step_s, which);
}

Series smooth(const Series& series, double width_s) {
  return with_moving_average(series, width_s, [](double, double average) { return average; });
}

Series high_pass(const Series& series, double width_s) {
  return with_moving_average(series, width_s, [](double x, double average) { return x - average; });
}

Series section(const Series& series, std::size_t first, std::size_t size) {
  Series out{
      series.begin_s + static_cast<double>(first) * series.step_s, series.step_s, size, series.which, {}, {}};
  const auto cut = [&](const auto& values) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(first);
    return std::decay_t<decltype(values)>(from, from + static_cast<std::ptrdiff_t>(size));
  };
  for (std::size_t c = 0; c < series.columns.size(); ++c) {
    out.columns.push_back(cut(series.columns[c]));
    out.known.push_back(cut(series.known[c]));
  }
  return out;
}

void scale(Series& series, const std::vector<double>& factors) {
  for (std::size_t c = 0; c < series.columns.size(); ++c)
    for (double& x : series.columns[c]) x *= factors[c];
}

double correlation(const Series& series, std::size_t lag) {
  if (lag >= series.size) return 0;
  double products = 0;
  double early = 0;
  double late = 0;
  for (const auto& x : series.columns) {
    for (std::size_t i = 0; i + lag < series.size; ++i) {
      products += x[i] * x[i + lag];
      early += x[i] * x[i];
      late += x[i + lag] * x[i + lag];
    }
  }
  const double scale = std::sqrt(early * late);
  return scale > 0 ? products / scale : 0.0;
}

double power_of(const Series& series) {
  double squares = 0;
  for (const auto& x : series.columns)
    for (const double v : x) squares += v * v;
  return series.size > 0 ? squares / static_cast<double>(series.size) : 0.0;
}

}  // namespace rubato::progress
