#include "govern/reference/gear_pid.h"

#include <algorithm>
#include <cmath>

namespace rubato::govern {
namespace {

constexpr double kFirst = 0.7;
constexpr double kHighestGain = 8;
// The source raises the gain where the loss stays flat; how flat is our reading: a tenth of the limit.
constexpr double kFlat = 0.1;
constexpr double kOscillation = 0.5;  // of the limit, between two errors
constexpr double kDeadBand = 0.01;    // of the limit

}  // namespace

double GearPid::scheduled(double error) {
  const std::size_t n = steps_.size();
  if (n == 1) return kFirst;
  const double points = options_.bound / 5;  // what is one percent where the bound is five
  if (error < 0) {
    if (!options_.gain_stays_raised) raised_ = 1;
    if (-error < 0.3 * points) return 4;
    if (-error < 0.6 * points) return 2.5;
    return -error < 2.5 * points ? 1.75 : 1;
  }
  const auto below = [&](std::size_t back, double share) {
    return steps_[n - 1 - back].loss < share * options_.limit;
  };
  const bool flat = below(0, 0.2) && below(1, 0.2) &&
                    std::abs(steps_[n - 1].loss - steps_[n - 2].loss) < kFlat * options_.limit;
  const bool falling = n >= 3 && steps_[n - 1].gear < steps_[n - 2].gear &&
                       steps_[n - 2].gear < steps_[n - 3].gear && below(0, 0.5);
  if (flat || falling) {
    raised_ = std::min(kHighestGain, raised_ * (flat ? 1.5 : 1.75));
  } else if (!options_.gain_stays_raised) {
    raised_ = 1;
  }
  if (raised_ > 1) return raised_;
  return error < 4 * points ? 0.75 : 1;
}

double GearPid::delta(double error) {
  const std::size_t n = steps_.size();
  if (n > 1 && (error < 0) != (previous_error_ < 0)) sum_ = 0;
  sum_ += error;
  schedule_ = scheduled(error);
  double out = options_.kp * schedule_ * error;
  if (n >= 2) out += options_.ki * sum_;
  const double change = error - previous_error_;
  // Against the error, and only where the two swing.
  if (n > 1 && change * error > 0 && std::abs(change) > kOscillation * options_.limit)
    out -= options_.kd * change;
  return out;
}

std::size_t GearPid::next(std::size_t gear, double loss) {
  steps_.push_back({gear, loss});
  const double error = options_.limit - loss;
  const double change = delta(error);
  previous_error_ = error;
  if (error > 0 && error < kDeadBand * options_.limit) return gear;
  const auto last = static_cast<double>(gears_ - 1);
  const auto now = static_cast<double>(gear);
  double wanted = std::round(now * (1 - change));
  if (error < 0 && wanted <= now) wanted = now + 1;
  if (error > 0 && wanted >= now) wanted = now - 1;
  return static_cast<std::size_t>(std::clamp(wanted, 0.0, last));
}

}  // namespace rubato::govern
