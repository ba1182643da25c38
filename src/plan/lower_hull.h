// The lower convex hull of points of the plane: what any share of them can reach.
#pragma once

#include <algorithm>
#include <vector>

namespace rubato::plan {

/// From the least `x` to the least `y`, which are members of Point; each later point has less y.
template <class Point>
[[nodiscard]] std::vector<Point> lower_hull(std::vector<Point> points, double Point::*x, double Point::*y) {
  std::sort(points.begin(), points.end(),
            [&](const Point& a, const Point& b) { return a.*x != b.*x ? a.*x < b.*x : a.*y < b.*y; });
  std::vector<Point> hull;
  for (const Point& p : points) {
    if (!hull.empty() && p.*y >= hull.back().*y) continue;
    while (hull.size() > 1) {
      const Point& a = hull[hull.size() - 2];
      const Point& b = hull.back();
      // b lies below the line from a to p: it stays.
      if ((b.*x - a.*x) * (p.*y - a.*y) > (p.*x - a.*x) * (b.*y - a.*y)) break;
      hull.pop_back();
    }
    hull.push_back(p);
  }
  return hull;
}

}  // namespace rubato::plan
