#include "conduct/expectation_keeper.h"

#include <algorithm>
#include <cmath>

namespace rubato::conduct {
namespace {

constexpr double kMost = 24;
// Less than this nobody sees in a picture, and no choice rests on it.
constexpr double kLeastChange = 0.0005;  // of a ratio
constexpr double kOfHalfWidth = 0.25;
constexpr double kOtherWidth = 0.2;

bool differ(const ExpectedRatio& was, const ExpectedRatio& is) {
  const double width = was.high - was.low;
  if (std::abs(is.value - was.value) > std::max(kLeastChange, kOfHalfWidth * width / 2)) return true;
  return std::abs((is.high - is.low) - width) > std::max(kLeastChange, kOtherWidth * width);
}

bool differ(const Expectation& was, const Expectation& is, const Setting& chosen) {
  return std::ranges::any_of(is.settings, [&](const ExpectedSetting& now) {
    const auto then = std::ranges::find(was.settings, now.setting, &ExpectedSetting::setting);
    // A point more or less of a line that stays where it is tells nothing new.
    if (then == was.settings.end()) return now.measured || now.setting == chosen;
    return now.measured != then->measured || differ(then->time, now.time) || differ(then->energy, now.energy);
  });
}

}  // namespace

bool ExpectationKeeper::keep(const Expectation& expectation, const Setting& chosen, TimePoint now) {
  if (kept_ > 0 && !differ(latest_, expectation, chosen)) return false;
  const double minutes = (now - run_begin_).value() / 60;
  if (kept_ >= kMost * (1 + std::log2(1 + std::max(0.0, minutes)))) return false;
  latest_ = expectation;
  kept_ += 1;
  return true;
}

}  // namespace rubato::conduct
