// What the published searches have in common: they measure the found setting, try settings one after the
// other, and choose. Pure: what was measured in, the next try out. search_strategy.h runs them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/units.h"
#include "govern/tally.h"
#include "predict/curve.h"

namespace rubato::govern {

/// One stretch at one setting. The first one of a run is the baseline at the found setting.
struct TrialResult {
  predict::KnobPoint at;
  bool found = false;  // the found setting, and `at` tells where that is
  Cost cost;
};

/// How long a stretch is: whichever takes longest, after both `settle` and `settle_work` have passed.
struct TrialLength {
  Seconds settle;
  Seconds time;
  double work = 0;         // units
  double settle_work = 0;  // units at the setting that are not counted
};

struct SearchStep {
  enum class Kind { measure, hold } kind = Kind::hold;
  predict::KnobPoint at;
  bool found = false;  // the found setting, not `at`
  TrialLength length;  // of a measurement
  std::string why;
};

class Search {
 public:
  virtual ~Search() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Of the first measurement, at the found setting.
  [[nodiscard]] virtual TrialLength baseline() const = 0;
  /// Counter features at the found setting, where any were read: told before the first `next`.
  virtual void features(const std::map<std::string, double>& read) { static_cast<void>(read); }
  /// `seen` grows by the result of the step before; seen[0] is the baseline. After `hold` it is not asked
  /// again before `again` was true: then `seen` begins anew.
  [[nodiscard]] virtual SearchStep next(std::span<const TrialResult> seen) = 0;
  /// While holding, asked with what each further stretch of `watch()` cost: is it to search again?
  [[nodiscard]] virtual bool again(const Cost& held) {
    static_cast<void>(held);
    return false;
  }
  [[nodiscard]] virtual TrialLength watch() const { return baseline(); }
};

}  // namespace rubato::govern
