// The board between the work and the sensor: capacitors, warmth, fans, clocks.
#pragma once

#include <vector>

#include "base/random.h"
#include "period_truth/program.h"

namespace rubato::period_truth {

struct Board {
  double idle_w = 0;
  double highest_w = 0;
  double smoothing_s = 0;  // capacitors and converters, first order
  double warming_s = 0;    // time constant of the chip's warmth
  double leakage = 0;      // power it adds when warm, as a fraction
  double limit_w = 0;
  double highest_mhz = 0;
  double mhz_step = 0;
};
[[nodiscard]] Board draw_board(Random& random);

/// What the board does, in bins of equal length.
struct Waveform {
  static constexpr double kBin = 0.002;
  std::vector<float> power_w;
  std::vector<float> busy;
  std::vector<float> memory;
  std::vector<float> speed;
  [[nodiscard]] double end_s() const { return kBin * static_cast<double>(power_w.size()); }
};
[[nodiscard]] Waveform draw_waveform(const Board& board, const Program& program, Random& random);

/// Sums of a column, for its mean over any stretch of time; before the begin it stood at its first value.
class RunningSum {
 public:
  explicit RunningSum(const std::vector<float>& column);
  [[nodiscard]] double mean(double begin_s, double end_s) const;

 private:
  [[nodiscard]] double up_to(double t) const;
  std::vector<double> sum_;
  double first_ = 0;
};

}  // namespace rubato::period_truth
