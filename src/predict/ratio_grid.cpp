#include "predict/ratio_grid.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace rubato::predict {
namespace {

constexpr double kThousandths = 1000.0;

double distance(const KnobThousandths& a, const KnobThousandths& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i] - b[i]), 2);
  return sum;
}

/// The values on either side, and the weight of the upper one; beyond the ends both are the end.
struct Between {
  long low;
  long high;
  double upper;
};

Between between(const std::vector<long>& values, double x) {
  const auto above =
      std::find_if(values.begin(), values.end(), [&](long value) { return static_cast<double>(value) >= x; });
  if (above == values.end()) return {values.back(), values.back(), 0};
  if (above == values.begin()) return {values.front(), values.front(), 0};
  const long low = *std::prev(above);
  return {low, *above, (x - static_cast<double>(low)) / static_cast<double>(*above - low)};
}

}  // namespace

KnobThousandths thousandths_of(const KnobRatios& at) {
  KnobThousandths key;
  for (const double x : at) key.push_back(std::lround(x * kThousandths));
  return key;
}

RatioGrid::RatioGrid(Points points) : points_(std::move(points)) {
  for (std::size_t knob = 0; knob < points_.begin()->first.size(); ++knob) {
    std::set<long> values;
    for (const auto& [key, ratios] : points_) values.insert(key[knob]);
    values_.emplace_back(values.begin(), values.end());
  }
}

const Ratios& RatioGrid::nearest(const KnobThousandths& corner) const {
  if (const auto measured = points_.find(corner); measured != points_.end()) return measured->second;
  return std::min_element(points_.begin(), points_.end(),
                          [&](const auto& a, const auto& b) {
                            return distance(a.first, corner) < distance(b.first, corner);
                          })
      ->second;
}

Ratios RatioGrid::at(const KnobRatios& where) const {
  std::vector<Between> around;
  for (std::size_t knob = 0; knob < where.size(); ++knob)
    around.push_back(between(values_[knob], where[knob] * kThousandths));
  Ratios out{0, 0};
  KnobThousandths corner(where.size());
  for (std::size_t which = 0; which < std::size_t{1} << where.size(); ++which) {
    double weight = 1;
    for (std::size_t knob = 0; knob < where.size(); ++knob) {
      const bool upper = ((which >> knob) & 1U) != 0;
      corner[knob] = upper ? around[knob].high : around[knob].low;
      weight *= upper ? around[knob].upper : 1 - around[knob].upper;
    }
    if (weight == 0) continue;
    const Ratios& there = nearest(corner);
    out.time += weight * there.time;
    out.energy += weight * there.energy;
  }
  return out;
}

}  // namespace rubato::predict
