#include "measure/power_integral.h"

#include <algorithm>
#include <cmath>

namespace rubato::measure {
namespace {

// One lost tick is ordinary; more than two in a row is a hole nobody may bridge silently.
constexpr double kBridgedPeriods = 3.0;

// Of a stretch in which nothing was read we claim no more than "within half of its neighbours' power".
constexpr double kBlindFraction = 0.5;

}  // namespace

PowerIntegral::PowerIntegral(Seconds update_period, Seconds averaging_window)
    : period_s_(update_period.value()), averaging_s_(averaging_window.value()) {}

void PowerIntegral::set_sensor(Seconds update_period, Seconds averaging_window) {
  period_s_ = update_period.value();
  averaging_s_ = averaging_window.value();
}

double PowerIntegral::gap_band(double estimate_w) const {
  return std::max({kBlindFraction * estimate_w, highest_w_ - estimate_w, estimate_w - lowest_w_});
}

// The sums `seconds` after `from`, on the way to the next reading `to`.
PowerPoint PowerIntegral::advance(const Node& from, const Node& to, double seconds) const {
  PowerPoint p = from.sum;
  const double a = from.sum.power_w;
  const double b = to.sum.power_w;
  const double length = (to.at - from.at).value();
  if (length <= kBridgedPeriods * period_s_) {
    const double share = seconds / length;
    p.power_w = a + (b - a) * share;
    p.measured_j += 0.5 * (a + p.power_w) * seconds;
    // The step from a to b may have come right after the one reading or right before the other.
    p.variance_j2 += std::pow(0.5 * (b - a) * length, 2) * share;
    return p;
  }
  const double mean = 0.5 * (a + b);
  const double held_first = std::min(seconds, period_s_);
  const double blind = std::clamp(seconds - period_s_, 0.0, length - 2 * period_s_);
  const double held_last = std::max(0.0, seconds - (length - period_s_));
  p.measured_j += a * held_first + b * held_last;
  p.estimated_j += mean * blind;
  p.linear_band_j += gap_band(mean) * blind + std::abs(b - a) * (held_first + held_last);
  p.gap_s += blind;
  p.power_w = held_last > 0 ? b : (blind > 0 ? mean : a);
  return p;
}

bool PowerIntegral::add(TimePoint at, Watts power) {
  const double w = power.value();
  if (!std::isfinite(w) || w < 0) return false;
  if (nodes_.empty()) {
    lowest_w_ = highest_w_ = w;
    nodes_.push_back({at, {.power_w = w}});
    return true;
  }
  if (at <= nodes_.back().at) return false;
  lowest_w_ = std::min(lowest_w_, w);
  highest_w_ = std::max(highest_w_, w);
  Node next{at, {.power_w = w}};
  const Node& last = nodes_.back();
  const PowerPoint sum = advance(last, next, (at - last.at).value());
  if (sum.gap_s > last.sum.gap_s) {
    gaps_.push_back({last.at + Seconds(period_s_), at - Seconds(period_s_),
                     Joules(sum.estimated_j - last.sum.estimated_j),
                     Joules(gap_band(0.5 * (last.sum.power_w + w)) * (sum.gap_s - last.sum.gap_s))});
  }
  next.sum = sum;
  next.sum.power_w = w;
  nodes_.push_back(next);
  return true;
}

PowerIntegral::Blind PowerIntegral::beyond(const Node& end, const Node* neighbour) const {
  const double w = end.sum.power_w;
  // One reading alone says nothing about how much the power moves.
  const double moves = neighbour ? std::abs(w - neighbour->sum.power_w) : w;
  return {w, moves, gap_band(w)};
}

std::optional<PowerPoint> PowerIntegral::at(TimePoint t) const {
  if (nodes_.empty()) return std::nullopt;
  const bool before = t < nodes_.front().at;
  if (before && forgot_) return std::nullopt;
  if (before || t > nodes_.back().at) {
    const Node& end = before ? nodes_.front() : nodes_.back();
    const Node* neighbour = nodes_.size() < 2 ? nullptr : (before ? &nodes_[1] : &nodes_[nodes_.size() - 2]);
    const Blind blind = beyond(end, neighbour);
    const double away = std::abs((t - end.at).value());
    const double held = std::min(away, period_s_);
    const double gap = away - held;
    const double sign = before ? -1.0 : 1.0;
    PowerPoint p = end.sum;
    p.measured_j += sign * blind.power_w * held;
    p.estimated_j += sign * blind.power_w * gap;
    p.linear_band_j += sign * (blind.hold_band_w * held + blind.gap_band_w * gap);
    p.gap_s += sign * gap;
    return p;
  }
  const auto after = std::upper_bound(nodes_.begin(), nodes_.end(), t,
                                      [](TimePoint value, const Node& n) { return value < n.at; });
  const Node& from = *std::prev(after);
  if (after == nodes_.end() || from.at == t) return from.sum;
  return advance(from, *after, (t - from.at).value());
}

PowerEnergy PowerIntegral::between(const PowerPoint& begin, const PowerPoint& end) const {
  // The sums grow without end while a window does not: rounding may leave a difference just below zero.
  const double variance = std::max(0.0, end.variance_j2 - begin.variance_j2);
  const double linear = std::max(0.0, end.linear_band_j - begin.linear_band_j);
  const double blur = 0.5 * averaging_s_ * std::abs(end.power_w - begin.power_w);
  return {Joules(end.measured_j - begin.measured_j), Joules(end.estimated_j - begin.estimated_j),
          Joules(std::sqrt(variance) + linear + blur), Seconds(std::max(0.0, end.gap_s - begin.gap_s))};
}

std::optional<PowerEnergy> PowerIntegral::over(TimePoint begin, TimePoint end) const {
  const auto from = at(begin);
  const auto to = at(end);
  if (!from || !to) return std::nullopt;
  return between(*from, *to);
}

std::vector<PowerGap> PowerIntegral::gaps(TimePoint begin, TimePoint end) const {
  std::vector<PowerGap> found;
  if (nodes_.empty() || end <= begin) return found;
  const auto cut_to_window = [&](TimePoint from, TimePoint to, double power_w, double band_w) {
    from = std::max(from, begin);
    to = std::min(to, end);
    if (to <= from) return;
    const Seconds length = to - from;
    found.push_back({from, to, Watts(power_w) * length, Watts(band_w) * length});
  };
  const TimePoint first = nodes_.front().at - Seconds(period_s_);
  const TimePoint last = nodes_.back().at + Seconds(period_s_);
  if (!forgot_) {
    const Blind blind = beyond(nodes_.front(), nullptr);
    cut_to_window(begin, first, blind.power_w, blind.gap_band_w);
  }
  for (const PowerGap& gap : gaps_) {
    const double length = (gap.end - gap.begin).value();
    cut_to_window(gap.begin, gap.end, gap.estimate.value() / length, gap.band.value() / length);
  }
  const Blind blind = beyond(nodes_.back(), nullptr);
  cut_to_window(last, end, blind.power_w, blind.gap_band_w);
  return found;
}

std::optional<PowerRange> PowerIntegral::range(TimePoint begin, TimePoint end) const {
  if (nodes_.empty()) return std::nullopt;
  auto it = std::upper_bound(nodes_.begin(), nodes_.end(), begin,
                             [](TimePoint value, const Node& n) { return value < n.at; });
  if (it != nodes_.begin()) --it;
  double lowest = it->sum.power_w;
  double highest = lowest;
  for (; it != nodes_.end(); ++it) {
    lowest = std::min(lowest, it->sum.power_w);
    highest = std::max(highest, it->sum.power_w);
    if (it->at >= end) break;
  }
  return PowerRange{Watts(lowest), Watts(highest)};
}

void PowerIntegral::forget(TimePoint before) {
  while (nodes_.size() >= 2 && nodes_[1].at <= before) {
    nodes_.pop_front();
    forgot_ = true;
  }
  while (!gaps_.empty() && !nodes_.empty() && gaps_.front().end <= nodes_.front().at) gaps_.pop_front();
}

std::optional<TimePoint> PowerIntegral::latest() const {
  if (nodes_.empty()) return std::nullopt;
  return nodes_.back().at;
}

}  // namespace rubato::measure
