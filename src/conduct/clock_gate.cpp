#include "conduct/clock_gate.h"

#include <utility>

#include "base/text.h"
#include "govern/measure_only_strategy.h"

namespace rubato::conduct {
namespace {

// A clock needs moments to rise from idle; then a few readings tell.
constexpr Seconds kRising{2};
constexpr Seconds kLooking{3};
constexpr Seconds kLongest{15};

}  // namespace

void ClockGate::open(std::optional<std::string> objection) {
  auto made = make_(!objection);
  if (made) {
    inner_ = std::move(*made);
    told_ = objection.value_or("");
  } else {
    inner_ = std::make_unique<govern::MeasureOnlyStrategy>(
        objection ? cat(*objection, "; ", made.error().what) : made.error().what);
  }
}

govern::Decision ClockGate::next(const govern::Observation& o) {
  if (inner_) {
    govern::Decision decision = inner_->next(o);
    // Told with the first decision that is kept.
    const bool kept = decision.action != govern::Action::wait || decision.role != BlockRole::warmup;
    if (kept && !told_.empty()) decision.why = cat(std::exchange(told_, {}), "; ", decision.why);
    return decision;
  }
  if (!o.under_load) {
    loaded_since_.reset();
    return {govern::Action::wait, {}, BlockRole::warmup, "the job has not put this GPU to work yet", {}};
  }
  if (!loaded_since_) loaded_since_ = o.now;
  const Seconds loaded = o.now - *loaded_since_;
  if (loaded >= kRising) lock_.look(o);
  if ((lock_.enough() && loaded >= kRising + kLooking) || loaded >= kLongest) {
    open(lock_.objection());
    return next(o);
  }
  return {govern::Action::wait,
          {},
          BlockRole::warmup,
          "the job warms up; its clocks tell whether one was locked before",
          {}};
}

}  // namespace rubato::conduct
