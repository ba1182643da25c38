// How GPOEO and ODPP watch while they hold: the range of the power of single iterations, looked at ever more
// seldom while nothing happens.
#pragma once

#include <cstddef>
#include <deque>

#include "base/units.h"

namespace rubato::govern {

struct PowerSpreadOptions {
  double limit = 0.18;         // of (highest - lowest) over their mean
  bool never_forgets = false;  // as published: slow drift alone ends a hold at last
  std::size_t remembered = 8;  // looks, where it forgets
};

class PowerSpread {
 public:
  explicit PowerSpread(PowerSpreadOptions options) : options_(options) {}

  void restart();
  /// The spread with this look: above the limit it is for the caller to act.
  double look(Watts power);
  [[nodiscard]] bool broken(double spread) const { return spread > options_.limit; }
  /// How long to sleep before the next look, in iterations: from the third quiet one on, doubling up to 32.
  [[nodiscard]] double sleep() const;

 private:
  PowerSpreadOptions options_;
  std::deque<double> seen_;  // where it never forgets: the lowest and the highest
  int quiet_ = 0;
};

}  // namespace rubato::govern
