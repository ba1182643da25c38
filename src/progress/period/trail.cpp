#include "progress/period/trail.h"

#include <algorithm>
#include <cmath>

namespace rubato::progress {

namespace {

constexpr double kSameMark = 0.2;  // of a period: two looks place one mark that far apart at most

}  // namespace

bool same_iteration(double ratio) {
  return ratio > 0.53 && ratio < 1.9;
}

std::size_t Trail::add(const std::vector<Cycle>& cycles, double period_s) {
  std::size_t added = 0;
  for (Cycle cycle : cycles) {
    if (!recent_.empty() && cycle.begin_s < end_s_ - kSameMark * period_s) continue;
    const bool goes_on = !recent_.empty() && std::abs(cycle.begin_s - end_s_) < kSameMark * period_s;
    if (goes_on) cycle.begin_s = end_s_;
    if (!(cycle.end_s > cycle.begin_s)) continue;
    end_s_ = cycle.end_s;
    recent_.push_back(cycle);
    ++added;
    if (cycle.begin_s < given_s_ - kSameMark * period_s) continue;
    given_s_ = end_s_;
    ready_.push_back(cycle);
  }
  return added;
}

void Trail::forget_before(double begin_s) {
  while (!recent_.empty() && recent_.front().begin_s < begin_s) {
    older_.add(recent_.front().length_s());
    recent_.pop_front();
  }
}

void Trail::start_again() {
  recent_.clear();
  older_.clear();
}

std::vector<Cycle> Trail::outside(const std::vector<Cycle>& stretches, double period_s) const {
  std::vector<Cycle> out;
  for (const Cycle& cycle : recent_) {
    const double middle = 0.5 * (cycle.begin_s + cycle.end_s);
    const bool inside = std::any_of(stretches.begin(), stretches.end(),
                                    [&](const Cycle& s) { return s.begin_s <= middle && middle < s.end_s; });
    if (!inside && same_iteration(cycle.length_s() / period_s)) out.push_back(cycle);
  }
  return out;
}

std::vector<double> Trail::marks(std::size_t most) const {
  std::vector<double> out;
  for (auto it = recent_.rbegin(); it != recent_.rend() && out.size() < most; ++it) {
    if (!out.empty() && std::abs(it->end_s - out.back()) > kJoinedSeconds) break;
    if (out.empty()) out.push_back(it->end_s);
    if (out.size() < most) out.push_back(it->begin_s);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace rubato::progress
