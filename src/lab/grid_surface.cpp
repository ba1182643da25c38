#include "lab/grid_surface.h"

#include <algorithm>
#include <cmath>

#include "base/monotone_curve.h"
#include "experiment/monotone_fit.h"

namespace rubato::lab {
namespace {

// Alternating regressions converge geometrically; what moves by less than this is rounding.
constexpr double kStill = 1e-10;
constexpr int kMostSweeps = 200;

/// Applies `change` to every line along axis `a`: values over `from` in, as many out as it returns.
template <class Change>
std::vector<double> along(const std::vector<std::size_t>& lengths, std::size_t a,
                          const std::vector<double>& values, std::size_t length_after, Change change) {
  std::size_t inner = 1;
  for (std::size_t i = a + 1; i < lengths.size(); ++i) inner *= lengths[i];
  const std::size_t length = lengths[a];
  const std::size_t outer = values.size() / (inner * length);
  std::vector<double> out(outer * length_after * inner);
  std::vector<double> line(length);
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t i = 0; i < inner; ++i) {
      for (std::size_t k = 0; k < length; ++k) line[k] = values[(o * length + k) * inner + i];
      const std::vector<double> changed = change(line);
      for (std::size_t k = 0; k < length_after; ++k) out[(o * length_after + k) * inner + i] = changed[k];
    }
  }
  return out;
}

experiment::MonotoneFit fitted(const std::vector<double>& x, const std::vector<double>& y, bool rising) {
  std::vector<experiment::MonotoneFit::Point> points;
  points.reserve(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) points.push_back({x[i], y[i]});
  return {std::move(points), rising};
}

std::vector<double> evaluated(const auto& curve, const std::vector<double>& x) {
  std::vector<double> out;
  out.reserve(x.size());
  for (const double v : x) out.push_back(curve(v));
  return out;
}

std::vector<std::size_t> row_lengths(std::span<const SurfaceAxis> axes) {
  std::vector<std::size_t> out;
  for (const SurfaceAxis& axis : axes) out.push_back(axis.rows.size());
  return out;
}

}  // namespace

std::vector<double> made_monotone(std::span<const SurfaceAxis> axes, std::vector<double> values,
                                  bool rising) {
  const std::vector<std::size_t> lengths = row_lengths(axes);
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    const std::vector<double> before = values;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      const auto& x = axes[a].rows;
      values = along(lengths, a, values, x.size(),
                     [&](const std::vector<double>& line) { return evaluated(fitted(x, line, rising), x); });
    }
    double moved = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      moved = std::max(moved, std::abs(values[i] - before[i]) / std::abs(before[i]));
    if (axes.size() == 1 || moved < kStill) break;
  }
  return values;
}

std::vector<double> spread(std::span<const SurfaceAxis> axes, std::vector<double> values, bool rising,
                           TruthKind kind) {
  if (kind == TruthKind::denoised) values = made_monotone(axes, std::move(values), rising);
  std::vector<std::size_t> lengths = row_lengths(axes);
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const SurfaceAxis& axis = axes[a];
    values = along(lengths, a, values, axis.wanted.size(), [&](const std::vector<double>& line) {
      if (kind == TruthKind::denoised) return evaluated(fitted(axis.rows, line, rising), axis.wanted);
      const MonotoneCurve curve(axis.rows, line);
      return evaluated([&](double x) { return curve.at(x); }, axis.wanted);
    });
    lengths[a] = axis.wanted.size();
  }
  return values;
}

}  // namespace rubato::lab
