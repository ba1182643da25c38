#include "progress/period/look_times.h"

#include <algorithm>

namespace rubato::progress {

namespace {

constexpr double kSoon = 1.12;  // the next look, times the length of the trace: 5.1, 5.7, 6.4, 7.1, 8.0 s
constexpr double kHurrySeconds = 9;  // from here on, undecided still,
constexpr double kAgain = 1.25;
constexpr double kAgainDecided = 2;  // and then: between them only the latest iterations are looked at
// Short looks notice that a period has gone; that one has come only these do.
constexpr double kRarestSeconds = 3600;
constexpr double kRarestWithoutSeconds = 900;

}  // namespace

void LookTimes::looked(double now_s, Known known) {
  const double elapsed_s = now_s - from_s_;
  const double again = known != Known::nothing ? kAgainDecided : elapsed_s < kHurrySeconds ? kSoon : kAgain;
  const double rarest_s = known == Known::period ? kRarestSeconds : kRarestWithoutSeconds;
  while (next_s_ <= elapsed_s) next_s_ = std::min(next_s_ * again, next_s_ + rarest_s);
}

}  // namespace rubato::progress
