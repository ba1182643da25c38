#include "progress/period/likeness.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rubato::progress {

namespace {

constexpr double kAlike = 0.6;
constexpr double kPlateau = 0.06;  // of the mean variance: less is no shape to compare

/// The likest lag of a stretch so far.
struct Fraction {
  double product = -std::numeric_limits<double>::infinity();
  double both = 1;
  std::ptrdiff_t lag = 0;
};

/// sums[i] = sum over columns and j < i of a[j] * b[j + lag].
void running_products(const Series& series, std::size_t lag, std::vector<double>& sums) {
  sums.resize(series.size + 1 - std::min(series.size, lag));
  sums.front() = 0;
  for (std::size_t c = 0; c < series.columns.size(); ++c) {
    const auto& x = series.columns[c];
    if (c == 0)
      for (std::size_t i = 0; i + 1 < sums.size(); ++i) sums[i + 1] = x[i] * x[i + lag];
    else
      for (std::size_t i = 0; i + 1 < sums.size(); ++i) sums[i + 1] += x[i] * x[i + lag];
  }
  // Four at a time: one addition waits for the one before, and this is where a look spends its time.
  double before = 0;
  std::size_t i = 1;
  for (; i + 4 <= sums.size(); i += 4) {
    const double two = sums[i] + sums[i + 1];
    const double three = two + sums[i + 2];
    const double four = three + sums[i + 3];
    sums[i] += before;
    sums[i + 1] = before + two;
    sums[i + 2] = before + three;
    before += four;
    sums[i + 3] = before;
  }
  for (; i < sums.size(); ++i) before = sums[i] += before;
}

}  // namespace

std::vector<Stretch> likeness(const Series& series, double window_s, double lag_s, double slack_s) {
  std::vector<Stretch> out;
  const double step = series.step_s;
  const auto window = static_cast<std::size_t>(std::max(2L, std::lround(window_s / step)));
  const auto centre = static_cast<std::ptrdiff_t>(std::lround(lag_s / step));
  const auto slack = static_cast<std::ptrdiff_t>(std::floor(slack_s / step));
  const std::size_t stride = std::max<std::size_t>(1, window / 4);
  if (series.columns.empty()) return out;
  std::vector<double> energy;
  running_products(series, 0, energy);
  const double floor = kPlateau * energy.back() / static_cast<double>(std::max<std::size_t>(series.size, 1)) *
                       static_cast<double>(window);
  if (floor <= 0 || centre <= 0) return out;
  const auto reach = static_cast<std::size_t>(centre) + window;
  if (reach >= series.size) return out;
  const std::size_t count = (series.size - reach) / stride + 1;
  // Likenesses are compared as fractions: a division each would be half of the time this takes.
  std::vector<Fraction> best(count);
  std::vector<double> here(count);
  for (std::size_t k = 0; k < count; ++k) here[k] = energy[k * stride + window] - energy[k * stride];
  std::vector<double> products;
  for (std::ptrdiff_t shift = -slack; shift <= slack; ++shift) {
    const std::ptrdiff_t signed_lag = centre + shift;
    if (signed_lag < 1) continue;
    const auto lag = static_cast<std::size_t>(signed_lag);
    if (lag >= series.size) break;
    running_products(series, lag, products);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t i = k * stride;
      if (i + lag + window > series.size) break;
      const double there = energy[i + lag + window] - energy[i + lag];
      if (here[k] < floor && there < floor) continue;
      const double both = (here[k] + there) * 0.5;  // a stretch of another height is not alike either
      const double product = products[i + window] - products[i];
      if (product * best[k].both > best[k].product * both) best[k] = {product, both, signed_lag};
    }
  }
  out.resize(count);
  for (std::size_t k = 0; k < count; ++k)
    if (best[k].lag > 0)
      out[k] = {best[k].product / best[k].both, static_cast<double>(best[k].lag) * step - lag_s, true};
  return out;
}

Likeness summary_of(const std::vector<Stretch>& stretches) {
  Likeness out;
  std::vector<double> values;
  for (const auto& s : stretches) {
    if (!s.known) continue;
    values.push_back(s.alike);
    out.mean += s.alike;
    out.good += s.alike >= kAlike ? 1 : 0;
  }
  out.count = values.size();
  if (values.empty()) return out;
  out.mean /= static_cast<double>(values.size());
  out.good /= static_cast<double>(values.size());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  out.median = *middle;
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() * 3 / 4);
  std::nth_element(middle, upper, values.end());
  out.upper = *upper;
  return out;
}

double chance_of(const Likeness& likeness) {
  // Drawn above what coloured noise and work of random length reached in generated development traces.
  return 0.45 + 2 / (static_cast<double>(likeness.count) + 2);
}

Gain gain(const std::vector<Stretch>& first, const std::vector<Stretch>& second) {
  Gain out;
  double sum = 0;
  double squares = 0;
  double unlike = 0;
  double mended = 0;
  double spoilt = 0;
  double run = 0;
  double runs = 0;
  const auto end_run = [&] {
    runs += run * run;
    run = 0;
  };
  const std::size_t n = std::min(first.size(), second.size());
  for (std::size_t i = 0; i < n; ++i) {
    if (!first[i].known || !second[i].known) continue;
    const double step = second[i].alike - first[i].alike;
    sum += step;
    squares += step * step;
    ++out.count;
    if (first[i].alike < kAlike) {
      unlike += 1;
      run += 1;
      if (second[i].alike >= kAlike) mended += 1;
    } else {
      end_run();
      spoilt += second[i].alike < kAlike ? 1 : 0;
    }
  }
  end_run();
  if (out.count < 2) return out;
  const auto count = static_cast<double>(out.count);
  out.mean = sum / count;
  const double variance = std::max(1e-9, squares / count - out.mean * out.mean);
  out.z = out.mean / std::sqrt(4 * variance / count);
  out.unlike = unlike / count;
  out.run = unlike > 0 ? runs / unlike : 0;
  out.mended = unlike > 0 ? mended / unlike : 0;
  out.spoilt = count > unlike ? spoilt / (count - unlike) : 0;
  return out;
}

}  // namespace rubato::progress
