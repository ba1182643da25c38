// How far one power trace lies behind another: the lag of a meter outside the GPU, found by cross-correlation
// with the GPUs' own power. Pure functions over readings.
#pragma once

#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"

namespace rubato::measure {

struct PowerAt {
  TimePoint at;
  Watts power;
};
struct EnergyAt {
  TimePoint at;
  Joules energy;
};

/// Mean power between the updates of a counter, each at the middle of its stretch. Readings in order of time;
/// those that repeat a value are no update, and a counter that falls begins anew.
[[nodiscard]] std::vector<PowerAt> differentiate(std::span<const EnergyAt> readings);

struct Lag {
  Seconds lag;             // positive: the meter tells later; half of what either averages over is in it
  double correlation = 0;  // at that lag
  Seconds overlap;         // what it rests on
};

struct LagLimits {
  Seconds longest{15};  // an SNMP agent that refreshes every 10 s is among the slowest
  Seconds earliest{2};  // a GPU's own reading may be the later one: averages reach over a second
  double least_correlation = 0.7;
};

/// Both in order of time. Errors: unavailable with the reason where no lag can be told: too little in common,
/// power that did not move, a correlation below the limit, a load so regular that several lags fit.
[[nodiscard]] Result<Lag> estimate_lag(std::span<const PowerAt> gpus, std::span<const PowerAt> meter,
                                       const LagLimits& limits = {});

}  // namespace rubato::measure
