// Walks a list of settings inside one run, at iteration boundaries: every setting is held until what was
// launched before has drained, then for as many iterations as asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "govern/board_warmth.h"
#include "govern/clock_lock.h"
#include "govern/steady.h"
#include "govern/strategy.h"
#include "govern/stretch.h"

namespace rubato::govern {

struct SweepOptions {
  std::vector<Setting> steps;       // an empty one is the found setting
  std::int64_t iterations = 20;     // counted at each; longer where the sensor needs more
  bool found_clock_stated = false;  // the user gave --found-sm-clock
};

/// Measured stretches have the role hold, those at the found setting control; everything between is warmup.
/// The n-th measured stretch is the n-th step. When all are done the found setting comes back and the job
/// runs on.
class SweepStrategy final : public Strategy {
 public:
  explicit SweepStrategy(SweepOptions options) : options_(std::move(options)) {}

  [[nodiscard]] std::string_view name() const override { return "sweep"; }
  [[nodiscard]] Decision next(const Observation& o) override;
  /// Nothing more will be set; where it gave up before the end, its last decision says why.
  [[nodiscard]] bool through() const { return stage_ == Stage::done || stage_ == Stage::given_up; }

 private:
  enum class Stage { warming, going, draining, measuring, done, given_up };

  [[nodiscard]] Decision warming(const Observation& o);
  [[nodiscard]] Decision go(const Observation& o, std::string why);
  [[nodiscard]] Decision going(const Observation& o);
  [[nodiscard]] Decision draining(const Observation& o);
  [[nodiscard]] Decision measuring(const Observation& o);
  [[nodiscard]] Decision idle(const Observation& o, Stage stage, std::string why);
  [[nodiscard]] const Setting& target() const;
  [[nodiscard]] bool wants_clocks() const;

  SweepOptions options_;
  Stage stage_ = Stage::warming;
  std::size_t step_ = 0;
  std::string why_;
  Stretch stretch_;
  Steadiness steadiness_;
  ClockLockEvidence lock_;
  std::optional<TimePoint> loaded_since_;
  BoardWarmth warmth_;
};

}  // namespace rubato::govern
