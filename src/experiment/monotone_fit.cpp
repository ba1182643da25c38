#include "experiment/monotone_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace rubato::experiment {
namespace {

using Point = MonotoneFit::Point;

struct Block {
  double sum = 0;
  double weight = 0;
  [[nodiscard]] double mean() const { return sum / weight; }
};

/// Pool adjacent violators.
void make_rising(std::vector<Point>& points, const std::vector<double>& weights) {
  std::vector<Block> blocks;
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < points.size(); ++i) {
    blocks.push_back({points[i].y * weights[i], weights[i]});
    sizes.push_back(1);
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
      blocks[blocks.size() - 2].sum += blocks.back().sum;
      blocks[blocks.size() - 2].weight += blocks.back().weight;
      sizes[sizes.size() - 2] += sizes.back();
      blocks.pop_back();
      sizes.pop_back();
    }
  }
  std::size_t i = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (std::size_t k = 0; k < sizes[b]; ++k) points[i++].y = blocks[b].mean();
}

/// At an end: the parabola through three points, held to the sign and three times the slope of the first
/// stretch.
double end_slope(double near, double far, double near_rise, double far_rise) {
  const double slope = ((2 * near + far) * near_rise - near * far_rise) / (near + far);
  if (slope * near_rise <= 0) return 0;
  if (near_rise * far_rise <= 0 && std::abs(slope) > 3 * std::abs(near_rise)) return 3 * near_rise;
  return slope;
}

/// Weighted harmonic means of the neighbouring slopes (Fritsch and Butland 1984): no overshoot.
std::vector<double> slopes_of(const std::vector<Point>& p) {
  const std::size_t n = p.size();
  std::vector<double> step(n - 1);
  std::vector<double> rise(n - 1);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    step[i] = p[i + 1].x - p[i].x;
    rise[i] = (p[i + 1].y - p[i].y) / step[i];
  }
  std::vector<double> slope(n, rise[0]);
  if (n == 2) return slope;
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double a = 2 * step[i] + step[i - 1];
    const double b = step[i] + 2 * step[i - 1];
    slope[i] = rise[i - 1] * rise[i] <= 0 ? 0 : (a + b) / (a / rise[i - 1] + b / rise[i]);
  }
  slope[0] = end_slope(step[0], step[1], rise[0], rise[1]);
  slope[n - 1] = end_slope(step[n - 2], step[n - 3], rise[n - 2], rise[n - 3]);
  return slope;
}

}  // namespace

MonotoneFit::MonotoneFit(std::vector<Point> points, bool rising) {
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  const double sign = rising ? 1 : -1;
  std::vector<double> weights;
  for (const Point& p : points) {
    if (!points_.empty() && points_.back().x == p.x) {
      points_.back().y = (points_.back().y * weights.back() + sign * p.y) / (weights.back() + 1);
      ++weights.back();
      continue;
    }
    points_.push_back({p.x, sign * p.y});
    weights.push_back(1);
  }
  make_rising(points_, weights);
  for (Point& p : points_) p.y *= sign;
  slopes_ = slopes_of(points_);
}

double MonotoneFit::operator()(double x) const {
  if (x <= points_.front().x) return points_.front().y + slopes_.front() * (x - points_.front().x);
  if (x >= points_.back().x) return points_.back().y + slopes_.back() * (x - points_.back().x);
  const auto above =
      std::upper_bound(points_.begin(), points_.end(), x, [](double v, const Point& p) { return v < p.x; });
  const auto i = static_cast<std::size_t>(above - points_.begin()) - 1;
  const double h = points_[i + 1].x - points_[i].x;
  const double t = (x - points_[i].x) / h;
  const double u = 1 - t;
  return u * u * (1 + 2 * t) * points_[i].y + t * t * (3 - 2 * t) * points_[i + 1].y +
         h * t * u * (u * slopes_[i] - t * slopes_[i + 1]);
}

}  // namespace rubato::experiment
