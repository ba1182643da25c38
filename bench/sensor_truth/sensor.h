// The judge's own board: what its sensor, its counter and a reader that is sometimes late make of a load.
// Shares no code with the estimator or with the simulated GPU.
#pragma once

#include <vector>

#include "base/random.h"
#include "core/sample.h"
#include "sensor_truth/kinds.h"
#include "sensor_truth/load.h"

namespace rubato::truth {

/// reading = gain * power + offset, and a slow wave besides where a straight line does not fit.
struct Response {
  double gain = 1;
  double offset_w = 0;
  double wave_w = 0;
  double wave_length_w = 100;
  double wave_phase = 0;
  [[nodiscard]] double operator()(double power_w) const;
};
[[nodiscard]] Response draw_response(const Board& board, double gain, double offset_w, Random& random);

/// Energy as a function of time.
class Energy {
 public:
  Energy(const Load& load, const Response& response);
  [[nodiscard]] double joules(double t) const;
  [[nodiscard]] double joules(double begin, double end) const { return joules(end) - joules(begin); }
  /// A first-order lag's answer at times that never fall, each from the one before: `level` at `from`.
  [[nodiscard]] double lagged(double level, double from, double to, double lag_s) const;

 private:
  [[nodiscard]] std::size_t index(double t) const;
  std::vector<double> begin_;
  std::vector<double> power_;
  std::vector<double> sum_;
  mutable std::size_t hint_ = 0;
};

struct Reader {
  double period_s = 0.1;  // how often it means to read
  double counter_period_s = 0.1;
  double until_s = 0;
};

/// Every reading until `until_s`.
[[nodiscard]] std::vector<FastReading> read_all(const Board& board, Counter counter, const Energy& sensed,
                                                const Reader& reader, Random& random);

}  // namespace rubato::truth
