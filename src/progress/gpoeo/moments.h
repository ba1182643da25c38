// Mean and standard deviation of any stretch of a trace.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace rubato::progress::gpoeo {

/// In constant time, from running sums.
class Moments {
 public:
  explicit Moments(std::span<const double> values) : sums_(1), squares_(1) {
    // About the first value, or the squares of a high and flat trace would drown its deviation.
    if (!values.empty()) origin_ = values.front();
    for (const double value : values) {
      sums_.push_back(sums_.back() + (value - origin_));
      squares_.push_back(squares_.back() + (value - origin_) * (value - origin_));
    }
  }
  [[nodiscard]] double mean(std::size_t begin, std::size_t end) const {
    return origin_ + about_origin(begin, end);
  }
  [[nodiscard]] double deviation(std::size_t begin, std::size_t end) const {
    if (end <= begin) return 0;
    const double mean = about_origin(begin, end);
    const double square = (squares_[end] - squares_[begin]) / static_cast<double>(end - begin);
    return std::sqrt(std::max(0.0, square - mean * mean));
  }

 private:
  [[nodiscard]] double about_origin(std::size_t begin, std::size_t end) const {
    return end <= begin ? 0 : (sums_[end] - sums_[begin]) / static_cast<double>(end - begin);
  }
  double origin_ = 0;
  std::vector<double> sums_;
  std::vector<double> squares_;
};

[[nodiscard]] inline double deviation_of(std::span<const double> values) {
  return Moments(values).deviation(0, values.size());
}

}  // namespace rubato::progress::gpoeo
