#include "sensor_truth/calibration.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace rubato::truth {
namespace {

constexpr int kPowers = 12;
constexpr double kMeterError = 0.002;
// 95 % of a line's residuals with ten degrees of freedom lie within that many of their standard deviations
// (Student's t).
constexpr double kResidualReach = 2.23;

// Calls `look(power, reading)` at 12 to 100 % of the board's highest power.
template <class Look>
void at_powers(const Board& board, Look&& look) {
  for (int i = 0; i <= 8; ++i) {
    const double power = board.highest_w * (0.12 + 0.11 * i);
    look(power, *board.gain * power + board.offset_w);
  }
}

}  // namespace

UncalibratedBand uncalibrated_band(const std::vector<Board>& boards, const std::string& but) {
  UncalibratedBand band{kUncalibratedBand, 0};
  for (const Board& board : boards) {
    if (!board.gain || board.model == but) continue;
    at_powers(board, [&](double power, double reading) {
      band.floor_w = std::max(band.floor_w, std::abs(reading - power) - band.fraction * reading);
    });
  }
  return band;
}

double share_inside(const std::vector<Board>& boards, const std::string& model,
                    const UncalibratedBand& band) {
  double inside = 0;
  double all = 0;
  for (const Board& board : boards) {
    if (!board.gain || board.model != model) continue;
    at_powers(board, [&](double power, double reading) {
      inside += std::abs(reading - power) <= band.fraction * reading + band.floor_w ? 1 : 0;
      ++all;
    });
  }
  return all > 0 ? inside / all : 0;
}

std::vector<std::string> measured_models(const std::vector<Board>& boards) {
  std::set<std::string> models;
  for (const Board& board : boards)
    if (board.gain) models.insert(board.model);
  return {models.begin(), models.end()};
}

void calibrate(SensorFacts& facts, const Board& board, const Response& response, Random& random) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
  for (int i = 0; i < kPowers; ++i) {
    const double power = board.idle_w + (board.highest_w - board.idle_w) * i / (kPowers - 1);
    const double x = power * (1 + kMeterError * random.normal());
    const double y = response(power);
    sx += x, sy += y, sxx += x * x, sxy += x * y, syy += y * y;
  }
  const double gain = (kPowers * sxy - sx * sy) / (kPowers * sxx - sx * sx);
  const double offset = (sy - gain * sx) / kPowers;
  const double left = std::max(0.0, syy - offset * sy - gain * sxy);
  facts.gain = gain;
  facts.offset = Watts(offset / gain);
  facts.calibration_band = 2 * kMeterError;
  facts.calibration_floor = Watts(kResidualReach * std::sqrt(left / (kPowers - 2)));
  facts.calibrated_by = "calibrated";
}

}  // namespace rubato::truth
