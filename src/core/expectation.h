// What whoever chooses a setting expects of the settings it chooses from, as it stands at a decision.
#pragma once

#include <vector>

#include "core/setting.h"

namespace rubato {

/// Over the found setting's at the same moment, per unit of work: 0.9 is a tenth less.
struct ExpectedRatio {
  double value = 1;
  double low = 1;  // 90 % interval
  double high = 1;
};

struct ExpectedSetting {
  Setting setting;  // empty: the found one
  ExpectedRatio time;
  ExpectedRatio energy;
  double holds = 1;       // the chance that it keeps the bound
  bool measured = false;  // in this run, before
  /// One of those whose line is the predicted curve; else it lies beside it, and is told for its own sake.
  bool on_curve = true;
};

/// In the order in which the line goes.
struct Expectation {
  std::vector<ExpectedSetting> settings;
};

}  // namespace rubato
