#include "progress/period/standing.h"

#include <algorithm>

namespace rubato::progress {

namespace {

// Of a period that stands: a stall or an evaluation is no news even of iterations that always showed.
constexpr double kLeastMissRate = 0.2;
constexpr double kLostBelow = 0.6;  // of what the look said

}  // namespace

void Standing::stated(double confidence) {
  *this = {};
  said_ = confidence;
  chance_ = confidence;
}

void Standing::stated_again(double confidence, bool since_lost) {
  if (since_lost) {
    // It was there, and short looks did not find it: that they did before says nothing any more.
    steps_ = missed_;
    misses_ = missed_;
    missed_ = 0;
  }
  said_ = confidence;
  if (confirmed()) chance_ = confidence;
}

// Bayes' rule: a period that is gone is never found, one that stands is missed as often as so far.
void Standing::stepped(bool confirmed) {
  const double miss_rate =
      std::max(kLeastMissRate, (static_cast<double>(misses_) + 1) / (static_cast<double>(steps_) + 2));
  ++steps_;
  if (confirmed) {
    missed_ = 0;
    chance_ = said_;
    return;
  }
  ++misses_;
  ++missed_;
  chance_ = chance_ * miss_rate / (chance_ * miss_rate + 1 - chance_);
}

bool Standing::doubted() const {
  return missed_ >= kLeastMissed;
}

bool Standing::lost() const {
  return doubted() && chance_ < kLostBelow * said_;
}

}  // namespace rubato::progress
