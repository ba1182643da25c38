#include "conduct/board_calibration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/text.h"

namespace rubato::conduct {
namespace {

constexpr const char* kVaryTheLoad =
    "let the load vary between idle and full: stretches of 10 s and more at several power limits, or with "
    "pauses";

struct Pair {
  double board;
  double meter;
};

/// Mean over [begin, end], linear between readings; absent where a stretch of it was not read.
std::optional<double> mean_power(std::span<const measure::PowerAt> trace, TimePoint begin, TimePoint end,
                                 Seconds bridged) {
  auto next = std::upper_bound(trace.begin(), trace.end(), begin,
                               [](TimePoint t, const measure::PowerAt& p) { return t < p.at; });
  if (next == trace.begin()) return std::nullopt;
  double joules = 0;
  TimePoint at = begin;
  for (; at < end; ++next) {
    if (next == trace.end()) return std::nullopt;
    const measure::PowerAt& a = *std::prev(next);
    const double length = (next->at - a.at).value();
    if (length > bridged.value()) return std::nullopt;
    const auto power = [&](TimePoint t) {
      return a.power.value() + (next->power - a.power).value() * (t - a.at).value() / length;
    };
    const TimePoint until = std::min(end, next->at);
    joules += 0.5 * (power(at) + power(until)) * (until - at).value();
    at = until;
  }
  return joules / (end - begin).value();
}

Seconds usual_distance(std::span<const measure::PowerAt> trace) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < trace.size(); ++i) steps.push_back((trace[i].at - trace[i - 1].at).value());
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return Seconds(*middle);
}

/// 97.5 % quantile of Student's t by Hill's expansion about the normal one (CACM algorithm 396, its leading
/// terms): within 1 % from five degrees of freedom on.
double t_quantile(double freedom) {
  constexpr double z = 1.959964;
  const double z3 = z * z * z;
  const double z5 = z3 * z * z;
  return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom);
}

BoardFit line_through(const std::vector<Pair>& pairs) {
  const auto n = static_cast<double>(pairs.size());
  double mean_x = 0;
  double mean_y = 0;
  for (const Pair& p : pairs) {
    mean_x += p.board / n;
    mean_y += p.meter / n;
  }
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (const Pair& p : pairs) {
    xx += (p.board - mean_x) * (p.board - mean_x);
    xy += (p.board - mean_x) * (p.meter - mean_y);
    yy += (p.meter - mean_y) * (p.meter - mean_y);
  }
  BoardFit fit;
  fit.slope = xx > 0 ? xy / xx : 0;
  fit.base = Watts(mean_y - fit.slope * mean_x);
  const double rest = std::max(0.0, yy - fit.slope * xy);
  fit.r_squared = yy > 0 ? 1 - rest / yy : 0;
  const double variance = rest / (n - 2);
  fit.residual = Watts(std::sqrt(variance));
  fit.slope_band = xx > 0 ? t_quantile(n - 2) * std::sqrt(variance / xx) : 0;
  fit.windows = pairs.size();
  const auto [low, high] = std::minmax_element(
      pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.board < b.board; });
  fit.lowest = Watts(low->board);
  fit.highest = Watts(high->board);
  return fit;
}

tl::unexpected<Error> refused(std::string what, std::string hint) {
  return fail(ErrorCode::unavailable, std::move(what), std::move(hint));
}

}  // namespace

Result<BoardFit> fit_board(std::span<const measure::PowerAt> board, std::span<const measure::PowerAt> meter,
                           Watts highest_limit, const BoardFitLimits& limits) {
  const auto lag = measure::estimate_lag(board, meter);
  if (!lag) return refused(cat("meter and board cannot be aligned: ", lag.error().what), kVaryTheLoad);
  // At least four readings of the slower one in each mean, so that an edge is a small part of it.
  const Seconds board_step = usual_distance(board);
  const Seconds meter_step = usual_distance(meter);
  const Seconds window = std::max({limits.shortest_window, 4.0 * meter_step, 4.0 * board_step});
  std::vector<Pair> pairs;
  for (TimePoint t = board.front().at; t + window <= board.back().at; t = t + window) {
    const auto x = mean_power(board, t, t + window, 3.0 * board_step);
    const auto y = mean_power(meter, t + lag->lag, t + lag->lag + window, 3.0 * meter_step);
    if (x && y) pairs.push_back({*x, *y});
  }
  if (pairs.size() < limits.least_windows)
    return refused(cat("meter and board have ", pairs.size(), " windows of ", window,
                       " in common, needed are ", limits.least_windows),
                   "measure longer, as in --seconds 120");
  BoardFit fit = line_through(pairs);
  fit.window = window;
  fit.lag = *lag;
  const double range = (fit.highest - fit.lowest) / highest_limit;
  if (range < limits.least_range)
    return refused(
        cat("the board's power moved from ", fit.lowest, " to ", fit.highest, ", ", number(range * 100, 0),
            " % of its ", highest_limit, "; needed are ", number(limits.least_range * 100, 0), " %"),
        kVaryTheLoad);
  if (fit.slope <= 0 || fit.r_squared < limits.least_r_squared)
    return refused(cat("a straight line fits badly: R^2 ", number(fit.r_squared, 3), " with ", fit.residual,
                       " of scatter, needed is ", number(limits.least_r_squared, 2)),
                   "keep everything else on the meter still: other jobs, the processor, other GPUs");
  return fit;
}

}  // namespace rubato::conduct
