// One setting the user named: measure at the found setting first, hold the wanted one, and go back for short
// control blocks, so that the saving is judged against this run and not against a memory of it.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/random.h"
#include "govern/clock_lock.h"
#include "govern/steady.h"
#include "govern/strategy.h"
#include "govern/stretch.h"

namespace rubato::govern {

struct FixedOptions {
  Setting wanted;
  bool found_clock_stated = false;  // the user gave --found-sm-clock
};

/// After each change the role is warmup until what was launched before has drained; then a `wait` with the
/// role of the stretch says that counting begins.
class FixedStrategy final : public Strategy {
 public:
  FixedStrategy(FixedOptions options, Random random);

  [[nodiscard]] std::string_view name() const override { return "fixed"; }
  [[nodiscard]] Decision next(const Observation& o) override;

 private:
  enum class Stage { no_load, warming, baseline, going, settling, holding, refused };
  enum class Target { wanted, found };

  [[nodiscard]] Decision no_load(const Observation& o);
  [[nodiscard]] Decision warming(const Observation& o);
  [[nodiscard]] Decision baseline(const Observation& o);
  [[nodiscard]] Decision leave_baseline(const Observation& o, std::string why);
  [[nodiscard]] Decision go(const Observation& o, Target target, std::string why);
  [[nodiscard]] Decision going(const Observation& o);
  [[nodiscard]] Decision settling(const Observation& o);
  [[nodiscard]] Decision hold(const Observation& o);
  [[nodiscard]] Decision control(const Observation& o);

  [[nodiscard]] bool in_force(const Observation& o) const;
  [[nodiscard]] bool load_gone(const Observation& o) const;
  [[nodiscard]] Seconds patience() const;
  [[nodiscard]] Seconds control_length(const Observation& o) const;
  [[nodiscard]] Seconds control_budget(const Observation& o) const;
  void plan_control(const Observation& o);

  Setting wanted_;
  bool found_clock_stated_;
  Random random_;

  Stage stage_ = Stage::no_load;
  Target target_ = Target::found;
  Stretch stretch_;
  Steadiness steadiness_;
  ClockLockEvidence lock_;
  Seconds loaded_;  // time under load so far
  std::optional<TimePoint> last_asked_;
  std::optional<TimePoint> idle_since_;
  TimePoint asked_;
  std::string why_;                        // of the stage
  std::optional<Seconds> iteration_time_;  // at the found setting

  Seconds control_spent_;
  TimePoint control_begin_;
  TimePoint control_due_;
};

}  // namespace rubato::govern
