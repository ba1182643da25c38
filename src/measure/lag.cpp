#include "measure/lag.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"

namespace rubato::measure {
namespace {

// Readings further apart than this many usual distances leave a hole, not a line.
constexpr double kBridged = 3.0;
// Grid points for each distance between the meter's readings: the peak is round enough for a parabola.
constexpr double kGrid = 4.0;
constexpr double kFinestGridS = 0.02;
// A correlation over fewer readings of the meter is luck.
constexpr double kLeastReadings = 20;
// Power that moves by less than this share of its mean is noise.
constexpr double kLeastMovement = 0.03;
// Another peak this near the best one is as likely the right one.
constexpr double kRival = 0.03;

double usual_distance(std::span<const PowerAt> trace) {
  std::vector<double> steps;
  steps.reserve(trace.size());
  for (std::size_t i = 1; i < trace.size(); ++i) steps.push_back((trace[i].at - trace[i - 1].at).value());
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

/// Values at equal steps; absent in holes.
using Grid = std::vector<std::optional<double>>;

Grid on_grid(std::span<const PowerAt> trace, TimePoint begin, double step, std::size_t points,
             double bridged) {
  Grid grid(points);
  std::size_t next = 1;
  for (std::size_t i = 0; i < points; ++i) {
    const TimePoint t = begin + Seconds(step * static_cast<double>(i));
    while (next < trace.size() && trace[next].at < t) ++next;
    if (next >= trace.size()) break;
    const PowerAt& a = trace[next - 1];
    const PowerAt& b = trace[next];
    const double length = (b.at - a.at).value();
    if (t < a.at || length > bridged || length <= 0) continue;
    const double share = (t - a.at).value() / length;
    grid[i] = a.power.value() + (b.power - a.power).value() * share;
  }
  return grid;
}

/// A centred mean over what one reading of the slower trace stands for: it shifts nothing in time.
Grid smoothed(const Grid& grid, std::size_t half) {
  if (half == 0) return grid;
  std::vector<double> sum(grid.size() + 1);
  std::vector<std::size_t> count(grid.size() + 1);
  for (std::size_t i = 0; i < grid.size(); ++i) {
    sum[i + 1] = sum[i] + grid[i].value_or(0);
    count[i + 1] = count[i] + (grid[i] ? 1 : 0);
  }
  Grid out(grid.size());
  for (std::size_t i = half; i + half < grid.size(); ++i) {
    const std::size_t from = i - half;
    const std::size_t to = i + half + 1;
    if (count[to] - count[from] == to - from) out[i] = (sum[to] - sum[from]) / static_cast<double>(to - from);
  }
  return out;
}

struct Correlation {
  double r = 0;
  std::size_t points = 0;
};

/// Of reference(t) with late(t + shift).
Correlation correlate(const Grid& reference, const Grid& late, std::ptrdiff_t shift) {
  double n = 0;
  double sum_x = 0;
  double sum_y = 0;
  double sum_xx = 0;
  double sum_yy = 0;
  double sum_xy = 0;
  const auto size = static_cast<std::ptrdiff_t>(reference.size());
  const auto end = std::min(size, static_cast<std::ptrdiff_t>(late.size()) - shift);
  for (auto i = std::max<std::ptrdiff_t>(0, -shift); i < end; ++i) {
    const auto& x = reference[static_cast<std::size_t>(i)];
    const auto& y = late[static_cast<std::size_t>(i + shift)];
    if (!x || !y) continue;
    n += 1;
    sum_x += *x;
    sum_y += *y;
    sum_xx += *x * *x;
    sum_yy += *y * *y;
    sum_xy += *x * *y;
  }
  const double vx = n * sum_xx - sum_x * sum_x;
  const double vy = n * sum_yy - sum_y * sum_y;
  const bool moves = n > 1 && vx > 1e-9 * n * sum_xx && vy > 1e-9 * n * sum_yy;
  return {moves ? (n * sum_xy - sum_x * sum_y) / std::sqrt(vx * vy) : 0, static_cast<std::size_t>(n)};
}

bool moves_enough(const Grid& grid) {
  double n = 0;
  double sum = 0;
  double squares = 0;
  for (const auto& value : grid) {
    if (!value) continue;
    n += 1;
    sum += *value;
    squares += *value * *value;
  }
  if (n < 2) return false;
  const double mean = sum / n;
  return std::sqrt(std::max(0.0, squares / n - mean * mean)) > kLeastMovement * std::abs(mean);
}

/// Where a parabola through three equally spaced values has its top, in steps from the middle one.
double top_of(double before, double middle, double after) {
  const double bend = before - 2 * middle + after;
  return bend < 0 ? std::clamp(0.5 * (before - after) / bend, -0.5, 0.5) : 0.0;
}

tl::unexpected<Error> unknown(std::string why) {
  return fail(ErrorCode::unavailable, std::move(why));
}

}  // namespace

std::vector<PowerAt> differentiate(std::span<const EnergyAt> readings) {
  std::vector<PowerAt> power;
  if (readings.empty()) return power;
  EnergyAt last = readings.front();
  for (const EnergyAt& r : readings.subspan(1)) {
    if (r.energy == last.energy || r.at <= last.at) continue;
    if (r.energy > last.energy)
      power.push_back({last.at + (r.at - last.at) / 2, (r.energy - last.energy) / (r.at - last.at)});
    last = r;
  }
  return power;
}

Result<Lag> estimate_lag(std::span<const PowerAt> gpus, std::span<const PowerAt> meter,
                         const LagLimits& limits) {
  if (gpus.size() < 3 || meter.size() < 3) return unknown("there are fewer than three readings of both");
  const double gpu_step = usual_distance(gpus);
  const double meter_step = usual_distance(meter);
  if (gpu_step <= 0 || meter_step <= 0) return unknown("readings without time between them");
  const double step = std::max({meter_step / kGrid, gpu_step / 2, kFinestGridS});
  const TimePoint begin = std::max(gpus.front().at, meter.front().at - limits.longest);
  const TimePoint end = std::min(gpus.back().at, meter.back().at + limits.earliest);
  const double length = (end - begin).value();
  const double least = kLeastReadings * std::max(meter_step, gpu_step);
  if (length < least + limits.longest.value())
    return unknown(cat("meter and GPUs were read together for ", Seconds(std::max(length, 0.0)),
                       ", needed are ", Seconds(least) + limits.longest));

  const auto points = static_cast<std::size_t>(length / step) + 1;
  const auto half = static_cast<std::size_t>(meter_step / step / 2);
  const Grid reference = smoothed(on_grid(gpus, begin, step, points, kBridged * gpu_step), half);
  const Grid late = on_grid(meter, begin, step, points, kBridged * meter_step);
  if (!moves_enough(reference)) return unknown("the GPUs' power did not move");

  const auto first = -static_cast<std::ptrdiff_t>(limits.earliest.value() / step) - 1;
  const auto last = static_cast<std::ptrdiff_t>(limits.longest.value() / step) + 1;
  std::vector<Correlation> at;
  for (auto shift = first; shift <= last; ++shift) at.push_back(correlate(reference, late, shift));
  const auto needed = static_cast<std::size_t>(least / step);
  const auto usable = [&](std::size_t i) { return at[i].points >= needed; };
  std::size_t best = 0;
  for (std::size_t i = 0; i < at.size(); ++i)
    if (usable(i) && (!usable(best) || at[i].r > at[best].r)) best = i;
  const double r = at[best].r;
  if (!usable(best) || r < limits.least_correlation)
    return unknown(cat("correlation ", number(std::max(r, 0.0), 2), " with the GPUs' power, needed is ",
                       number(limits.least_correlation, 2)));
  if (best == 0 || best + 1 == at.size())
    return unknown(cat("the best correlation lies at the end of what was tried, ", limits.longest));
  const auto seconds = [&](std::size_t i, double part) {
    return Seconds((static_cast<double>(static_cast<std::ptrdiff_t>(i) + first) + part) * step);
  };
  for (std::size_t i = 1; i + 1 < at.size(); ++i) {
    const bool peak = at[i].r >= at[i - 1].r && at[i].r >= at[i + 1].r && usable(i);
    const auto apart = static_cast<double>(i > best ? i - best : best - i) * step;
    if (peak && at[i].r > r - kRival && apart > 2 * meter_step)
      return unknown(
          cat("the load repeats itself: ", seconds(best, 0), " and ", seconds(i, 0), " fit alike"));
  }
  return Lag{seconds(best, top_of(at[best - 1].r, r, at[best + 1].r)), r,
             Seconds(static_cast<double>(at[best].points) * step)};
}

}  // namespace rubato::measure
