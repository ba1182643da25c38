#include "base/clock.h"

#include <cerrno>
#include <cmath>
#include <ctime>

namespace rubato {
namespace {

TimePoint monotonic_now() {
  timespec ts{};
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return TimePoint{std::int64_t{ts.tv_sec} * 1'000'000'000 + ts.tv_nsec};
}

}  // namespace

TimePoint RealClock::now() const {
  return monotonic_now();
}

TimePoint ScaledClock::now() const {
  const TimePoint real = monotonic_now();
  return TimePoint{origin_.ns + static_cast<std::int64_t>(static_cast<double>(real.ns - origin_.ns) * rate_)};
}

void sleep_until(const Clock& clock, TimePoint t) {
  // A scaled clock rounds: sleep again until it really reads t.
  for (Seconds left = t - clock.now(); left > Seconds(0); left = t - clock.now()) {
    const double wall = clock.wall(left).value();
    if (wall <= 0) return;
    timespec ts{static_cast<time_t>(wall), static_cast<long>(std::fmod(wall, 1.0) * 1e9) + 1};
    if (ts.tv_nsec >= 1'000'000'000) ts = {ts.tv_sec + 1, 0};
    if (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, nullptr) == EINTR) continue;
  }
}

}  // namespace rubato
