// Goes to and fro between the found setting and others, so that somebody who watches the GPU sees how long a
// change takes. What is held is not meant to be measured for its energy.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/random.h"
#include "govern/clock_lock.h"
#include "govern/strategy.h"
#include "govern/stretch.h"

namespace rubato::govern {

struct SwitchOptions {
  std::vector<Setting> targets;  // one after the other, each `cycles` times there and back
  unsigned cycles = 8;
  Seconds hold{4};
  bool found_clock_stated = false;  // the user gave --found-sm-clock
};

/// Every stretch is up to `kJitter` longer than `hold`: at the same moment of the sensor's period each time,
/// a change would look exactly as late each time.
class SwitchStrategy final : public Strategy {
 public:
  static constexpr Seconds kJitter{0.5};

  SwitchStrategy(SwitchOptions options, Random random) : options_(std::move(options)), random_(random) {}

  [[nodiscard]] std::string_view name() const override { return "switch"; }
  [[nodiscard]] Decision next(const Observation& o) override;
  /// Nothing more will be set; where it gave up before the end, its last decision says why.
  [[nodiscard]] bool through() const { return stage_ == Stage::done || stage_ == Stage::given_up; }

 private:
  enum class Stage { warming, going, holding, done, given_up };

  [[nodiscard]] Decision warming(const Observation& o);
  [[nodiscard]] Decision going(const Observation& o);
  [[nodiscard]] Decision holding(const Observation& o);
  [[nodiscard]] Setting target() const;
  [[nodiscard]] std::size_t switches() const { return options_.targets.size() * options_.cycles * 2; }

  SwitchOptions options_;
  Random random_;
  Stage stage_ = Stage::warming;
  std::size_t done_ = 0;  // switches made
  bool loaded_ = false;
  Seconds hold_;
  std::string why_;
  Stretch stretch_;
  ClockLockEvidence lock_;
};

}  // namespace rubato::govern
