#include "govern/clock_lock.h"

#include "base/text.h"

namespace rubato::govern {
namespace {

// Boards without a limiter in force run at their highest clock or a few steps below, by temperature.
constexpr double kClearlyBelow = 0.9;

// Asked-for clocks (user_clocks) are no such reason: they are what we look for.
bool explained(const std::optional<LimiterReasons>& limiter) {
  return limiter && (limiter->power_cap || limiter->thermal || limiter->hardware || limiter->other);
}

}  // namespace

void ClockLockEvidence::look(const Observation& o) {
  if (!o.under_load || !o.state || !o.state->sm_clock || !o.highest_sm_clock) return;
  if (latest_ && o.state->at <= *latest_) return;
  if (o.state->limiter && o.state->limiter->idle) return;
  latest_ = o.state->at;
  ++readings_;
  highest_ = *o.highest_sm_clock;
  if (*o.state->sm_clock < highest_ * kClearlyBelow && !explained(o.state->limiter)) {
    ++below_;
    seen_ = *o.state->sm_clock;
  }
}

std::optional<std::string> ClockLockEvidence::objection() const {
  constexpr std::string_view kRemedy =
      "; state the lock with --found-sm-clock MIN:MAX, or that there was none with --found-sm-clock none";
  if (!enough()) {
    return cat(
        "clock settings stay off: the SM clock could not be read under load, so a lock that was in force "
        "before could not be told from none",
        kRemedy);
  }
  if (2 * below_ <= readings_) return std::nullopt;
  return cat("clock settings stay off: under load the SM clock stood at ", seen_,
             ", clearly below the highest of ", highest_,
             ", and no limiter says why, so a clock lock may have been in force before", kRemedy);
}

}  // namespace rubato::govern
