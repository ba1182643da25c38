// A curve through noisy points that never turns: isotonic regression, then a cubic that does not overshoot.
#pragma once

#include <vector>

namespace rubato::experiment {

class MonotoneFit {
 public:
  struct Point {
    double x;
    double y;
  };
  /// Two or more distinct x; points of the same x become their mean.
  MonotoneFit(std::vector<Point> points, bool rising);

  /// Beyond the ends straight on, with the slope of the last point.
  [[nodiscard]] double operator()(double x) const;

 private:
  std::vector<Point> points_;
  std::vector<double> slopes_;
};

}  // namespace rubato::experiment
