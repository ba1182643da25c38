// What a GPU does at a requested setting whatever runs on it: the clock it really reaches, the memory
// throughput that is left, and a remainder. Requests that are not honoured show here.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "predict/physical/posterior.h"

namespace rubato::predict::physical {

/// Logarithms of limit, SM clock and memory clock over their highest.
using Place = Eigen::Vector3d;

/// Covariance 1 at distance 0: of what workloads share, half of which is the setting's alone, and of what one
/// workload's curve departs from its shape.
[[nodiscard]] double shared_kernel(const Place& a, const Place& b);
[[nodiscard]] double own_kernel(const Place& a, const Place& b);

/// At one place: added to log time, to log power, to the log of the SM clock (of the cap where there is one)
/// and of the memory throughput.
using Shift = Eigen::Vector4d;

class Pattern {
 public:
  Pattern() = default;
  Pattern(std::vector<Place> places, Eigen::MatrixXd shifts);  // places x 4

  [[nodiscard]] Shift at(const Place& place) const;
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }
  [[nodiscard]] const Eigen::MatrixXd& shifts() const { return shifts_; }

  /// What one workload's rows say of it: its evidence without pattern, where they stand, and its posterior.
  struct Seen {
    const std::vector<Place>* places;
    const std::vector<Situation>* asked;  // before this pattern
    const Evidence* evidence;
    const Posterior* posterior;
    double departure_time;  // variances
    double departure_power;
  };
  /// One Gauss-Newton step from `from`, over the same places.
  [[nodiscard]] static Pattern improved(const Pattern& from, const std::vector<Seen>& seen);
  [[nodiscard]] static Pattern flat(std::vector<Place> places);

 private:
  std::vector<Place> places_;
  Eigen::MatrixXd shifts_;
  Eigen::MatrixXd pull_;
};

[[nodiscard]] Situation shifted(const Situation& asked, const Shift& by);

}  // namespace rubato::predict::physical
