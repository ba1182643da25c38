#include "device/replay/surface.h"

#include <algorithm>

namespace rubato::device::replay {
namespace {

const std::vector<double> kSinglePlace{0.0};

}  // namespace

Surface::Surface(std::vector<Axis> axes, std::span<const Point> points) : axes_(std::move(axes)) {
  const std::vector<double>& along = axes_.empty() ? kSinglePlace : axes_.front().values;
  for (std::size_t begin = 0; begin + along.size() <= points.size(); begin += along.size()) {
    std::vector<double> time;
    std::vector<double> power;
    for (const Point& point : points.subspan(begin, along.size())) {
      time.push_back(point.time.value());
      power.push_back(point.power.value());
    }
    lines_.push_back({MonotoneCurve(along, time), MonotoneCurve(along, power)});
  }
}

Point Surface::at(const Place& place) const {
  Point out;
  for (std::size_t i = 0; i < axes_.size(); ++i)
    out.on_row = out.on_row && std::binary_search(axes_[i].values.begin(), axes_[i].values.end(), place[i]);
  std::vector<double> time;
  std::vector<double> power;
  for (const Line& line : lines_) {
    time.push_back(line.time.at(place[0]));
    power.push_back(line.power.at(place[0]));
  }
  if (lines_.size() == 1) {
    out.time = Seconds(time.front());
    out.power = Watts(power.front());
  } else {
    out.time = Seconds(MonotoneCurve(axes_[1].values, time).at(place[1]));
    out.power = Watts(MonotoneCurve(axes_[1].values, power).at(place[1]));
  }
  return out;
}

}  // namespace rubato::device::replay
