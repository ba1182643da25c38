#include "govern/rubato/visit.h"

#include <algorithm>

#include "base/text.h"

namespace rubato::govern {
namespace {

// What was launched before a change runs after it: the iteration under way and the one queued behind it do
// not count. A limiter needs about a second's half, a sensor some updates.
constexpr StretchNeeds kDrain{Seconds(0.5), 5, 2};
constexpr Seconds kLongestDrain{10};
constexpr Seconds kAskAgain{5};

}  // namespace

void Visit::begin(const Setting& setting, BlockRole role, std::string why, const Observation& o,
                  double cell) {
  const bool goes_on = stage_ == Stage::measuring && setting == setting_ && o.in_force == setting;
  setting_ = setting;
  role_ = role;
  why_ = std::move(why);
  cell_ = cell;
  if (goes_on) {
    meter_.begin(*o.tally, cell_);
    return;
  }
  stage_ = Stage::going;
  asked_ = o.now - kAskAgain;
  first_asked_.reset();
}

void Visit::measure_anew(const Observation& o) {
  if (stage_ != Stage::measuring) return;
  begin_to_drain(o);
}

void Visit::begin_to_drain(const Observation& o) {
  stage_ = Stage::draining;
  drain_.begin(o);
  drained_.reset();
}

std::optional<Decision> Visit::step(const Observation& o) {
  if (stage_ != Stage::going && o.in_force != setting_) {
    // Taken away meanwhile: by somebody else, or by the guard.
    stage_ = Stage::going;
    asked_ = o.now - kAskAgain;
  }
  if (stage_ == Stage::going) return going(o);
  if (stage_ == Stage::draining) return draining(o);
  if (o.tally) meter_.add(*o.tally);
  return std::nullopt;
}

std::optional<Decision> Visit::going(const Observation& o) {
  if (o.in_force == setting_) {
    if (first_asked_) latency_ = o.now - *first_asked_;
    begin_to_drain(o);
    return draining(o);
  }
  if (!o.may_set)
    return Decision{Action::wait, {}, BlockRole::warmup, why_ + "; rubato may not set anything here now", {}};
  if (o.now - asked_ < kAskAgain)
    return Decision{Action::wait, {}, BlockRole::warmup, "the change is on its way", asked_ + kAskAgain};
  asked_ = o.now;
  if (!first_asked_) first_asked_ = o.now;
  if (setting_.empty()) return Decision{Action::use_found, {}, BlockRole::warmup, why_, {}};
  return Decision{Action::use_setting, setting_, BlockRole::warmup, why_, {}};
}

std::optional<Decision> Visit::draining(const Observation& o) {
  if (!o.tally || !drain_.enough(o, kDrain, kLongestDrain))
    return Decision{Action::wait,
                    {},
                    BlockRole::warmup,
                    "what was launched before the change drains",
                    drain_.earliest_end(o, kDrain)};
  // What is told of work lags: behind sensors, and behind the reports of other nodes. Measured is from a
  // tally on that holds the whole drain.
  if (!drained_) drained_ = o.last_iteration.value_or(o.tally->at);
  if (o.tally->at < *drained_)
    return Decision{Action::wait, {}, BlockRole::warmup, "what was launched before the change drains", {}};
  stage_ = Stage::measuring;
  meter_.begin(*o.tally, cell_);
  return std::nullopt;
}

}  // namespace rubato::govern
