#include "govern/steady.h"

#include <algorithm>
#include <cmath>

namespace rubato::govern {
namespace {

constexpr std::size_t kRemembered = 33;
constexpr std::size_t kFewest = 7;  // two halves of three spacings each
constexpr double kTolerance = 0.1;

}  // namespace

void Steadiness::look(const Observation& o) {
  if (!o.last_iteration || o.iterations <= 0) return;
  if (!seen_.empty() && o.iterations <= seen_.back().first) return;
  seen_.emplace_back(o.iterations, *o.last_iteration);
  if (seen_.size() > kRemembered) seen_.pop_front();
}

bool Steadiness::steady() const {
  if (seen_.size() < kFewest) return false;
  const auto pace = [&](std::size_t from, std::size_t to) {
    return (seen_[to].second - seen_[from].second).value() /
           static_cast<double>(seen_[to].first - seen_[from].first);
  };
  const std::size_t last = seen_.size() - 1;
  const std::size_t half = last / 2;
  const double before = pace(last - 2 * half, last - half);
  const double latest = pace(last - half, last);
  return std::abs(latest - before) <= kTolerance * std::max(before, latest);
}

}  // namespace rubato::govern
