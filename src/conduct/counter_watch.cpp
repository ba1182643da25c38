#include "conduct/counter_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace rubato::conduct {
namespace {

// Long enough for providers that update once a second, and for whole iterations; an iteration longer than the
// longest is seen in part.
constexpr Seconds kShortest{4.0};
constexpr Seconds kLongest{60.0};
// Until counters that somebody else has are asked for again.
constexpr Seconds kUntilFree{60.0};

Seconds window_for(std::optional<Seconds> period) {
  if (!period || *period <= Seconds(0)) return kShortest;
  const double whole = std::ceil(kShortest / *period);
  return std::min(kLongest, std::max(1.0, whole) * *period);
}

}  // namespace

void CounterWatch::see(const FastReading& reading) {
  if (provider_) provider_->see(reading);
}

void CounterWatch::see(const SlowReading& reading) {
  if (provider_) provider_->see(reading);
}

void CounterWatch::want(std::string why) {
  if (!given_up_) why_ = std::move(why);
}

void CounterWatch::give_up(Error why) {
  given_up_ = true;
  why_.reset();
  begin_.reset();
  complaint_ = std::move(why);
}

void CounterWatch::failed(Error why, TimePoint now) {
  if (why.code != ErrorCode::busy || was_busy_) return give_up(std::move(why));
  was_busy_ = true;
  begin_.reset();
  not_before_ = now + kUntilFree;
}

bool CounterWatch::ready() {
  if (provider_) return true;
  auto opened = feature::open_provider(provider_name_, gpu_);
  if (!opened) {
    give_up(opened.error());
    return false;
  }
  const Capability& available = (*opened)->availability();
  if (!available.available) {
    give_up(Error{ErrorCode::unavailable,
                  cat(gpu_.identity().id.uuid, " (", gpu_.identity().name, "): no counters by ",
                      (*opened)->facts().name, ": ", available.why_not),
                  available.hint});
    return false;
  }
  provider_ = std::move(*opened);
  return true;
}

void CounterWatch::setting_changed() {
  if (!begin_) return;
  // What was counted until now is thrown away with the window.
  static_cast<void>(provider_->end(*end_due_));
  begin_.reset();
}

std::optional<TimePoint> CounterWatch::next_due() const {
  if (!begin_) return std::nullopt;
  const auto own = provider_->next_due();
  return own ? std::min(*own, *end_due_) : *end_due_;
}

std::optional<record::FeatureWindow> CounterWatch::step(TimePoint now, const Setting& in_force,
                                                        std::optional<Seconds> period, bool may_begin) {
  if (given_up_ || !why_) return std::nullopt;
  if (!begin_) {
    if (!may_begin || now < not_before_ || !ready()) return std::nullopt;
    if (const auto begun = provider_->begin(now); !begun) {
      failed(begun.error(), now);
      return std::nullopt;
    }
    begin_ = now;
    end_due_ = now + (longer_ ? kLongest : window_for(period));
    return std::nullopt;
  }
  if (now < *end_due_) {
    if (const auto due = provider_->next_due(); due && now >= *due)
      if (const auto polled = provider_->poll(now); !polled) {
        static_cast<void>(provider_->end(now));
        failed(polled.error(), now);
      }
    return std::nullopt;
  }
  const TimePoint begun = *begin_;
  begin_.reset();
  auto features = provider_->end(now);
  // Some tell news every 30 s: one longer window shows whether there is any. Where it had, windows stay long.
  const bool empty = features ? provider_->source() != provider_->facts().name
                              : features.error().code == ErrorCode::unavailable;
  told_nothing_in_ = empty ? std::optional(now - begun) : std::nullopt;
  const bool again = empty && !tried_longer_;
  tried_longer_ = tried_longer_ || empty;
  longer_ = again || (longer_ && !empty);
  if (!features) {
    if (!again) failed(features.error(), now);
    return std::nullopt;
  }
  was_busy_ = false;
  record::FeatureWindow window{gpu_.identity().id, std::string(provider_->source()), *features, in_force,
                               *why_};
  if (!again) why_.reset();
  return window;
}

std::optional<Error> CounterWatch::last_word() const {
  if (given_up_ || !told_nothing_in_) return std::nullopt;
  return Error{
      ErrorCode::unavailable,
      cat(gpu_.identity().id.uuid, " (", gpu_.identity().name, "): no counters by ", provider_->facts().name,
          ": they told nothing in the latest window, of ", *told_nothing_in_),
      "rubato doctor"};
}

std::optional<Error> CounterWatch::take_complaint() {
  return std::exchange(complaint_, std::nullopt);
}

}  // namespace rubato::conduct
