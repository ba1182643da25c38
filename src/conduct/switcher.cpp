#include "conduct/switcher.h"

namespace rubato::conduct {

void InlineSwitcher::stop() {
  queue_.clear();
  queue_.forget_clocks();
}

std::optional<TimePoint> InlineSwitcher::next_due() const {
  if (failure_) return std::nullopt;
  return queue_.next_due();
}

void InlineSwitcher::step(TimePoint now) {
  if (failure_) return;
  while (const auto one = queue_.take(now))
    if (const Status sent = send_(one->clocks); !sent) {
      failure_ = sent.error();
      return;
    }
}

}  // namespace rubato::conduct
