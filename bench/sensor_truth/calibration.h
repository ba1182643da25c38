// What is known of boards that nobody has held against a meter, and of one that somebody has.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "core/capability.h"
#include "sensor_truth/kinds.h"
#include "sensor_truth/sensor.h"

namespace rubato::truth {

/// Half width = fraction * reading + floor.
struct UncalibratedBand {
  double fraction = 0;
  double floor_w = 0;
};

/// The smallest floor beside kUncalibratedBand with which every board with a meter in the table, except the
/// model `but`, lies inside at 12 to 100 % of its highest power.
[[nodiscard]] UncalibratedBand uncalibrated_band(const std::vector<Board>& boards,
                                                 const std::string& but = {});
/// Share of those powers at which boards of `model` lie inside `band`.
[[nodiscard]] double share_inside(const std::vector<Board>& boards, const std::string& model,
                                  const UncalibratedBand& band);
/// Models with a meter beside them, in order of name.
[[nodiscard]] std::vector<std::string> measured_models(const std::vector<Board>& boards);

/// A straight line through a dozen steady powers, each held against a meter of 0.2 %: gain, offset and what
/// remains go into `facts`.
void calibrate(SensorFacts& facts, const Board& board, const Response& response, Random& random);

}  // namespace rubato::truth
