#include "plan/price.h"

#include <algorithm>
#include <cmath>

namespace rubato::plan {
namespace {

// Per second of run time at the default.
struct Point {
  double time;
  double energy;
};

double turn(const Point& a, const Point& b, const Point& c) {
  return (b.time - a.time) * (c.energy - a.energy) - (b.energy - a.energy) * (c.time - a.time);
}

// From the fastest point to the one of least energy, every slope less steep than the one before.
std::vector<Point> front_of(std::vector<Point> points) {
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return a.time < b.time || (a.time == b.time && a.energy < b.energy);
  });
  std::vector<Point> front;
  for (const Point& p : points) {
    if (!front.empty() && p.energy >= front.back().energy) continue;
    while (front.size() >= 2 && turn(front[front.size() - 2], front.back(), p) <= 0) front.pop_back();
    front.push_back(p);
  }
  return front;
}

Watts slope(const Point& fast, const Point& slow) {
  return Watts((fast.energy - slow.energy) / (slow.time - fast.time));
}

}  // namespace

Price price_of_a_second(const predict::Prediction& believed, std::optional<std::size_t> chosen,
                        Watts board_at_default, Watts beside) {
  const auto point = [&](double log_time, double log_energy) {
    const double time = std::exp(log_time);
    return Point{time, std::exp(log_energy) * board_at_default.value() + time * beside.value()};
  };
  std::vector<Point> points = {point(0, 0)};
  for (std::size_t i = 0; i < believed.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    points.push_back(point(believed.log_time[row], believed.log_energy[row]));
  }
  const double here = chosen ? points[*chosen + 1].time : 1.0;
  const auto front = front_of(std::move(points));
  Price out;
  for (std::size_t i = 1; i < front.size(); ++i) {
    if (front[i - 1].time < here) out.faster = slope(front[i - 1], front[i]);
    if (front[i].time > here && !out.slower) out.slower = slope(front[i - 1], front[i]);
  }
  return out;
}

}  // namespace rubato::plan
