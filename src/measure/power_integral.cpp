#include "measure/power_integral.h"

#include <algorithm>
#include <cmath>

namespace rubato::measure {
namespace {

// One lost tick is ordinary; more than two in a row is a hole nobody may bridge silently.
constexpr double kBridgedPeriods = 3.0;

// 95 % of a normal distribution, in standard deviations.
constexpr double kNinetyFive = 1.96;

// A sensor that sees everything tells all but what is read twice or missed: its period and the reader's
// differ by up to 4 % (A100: 104 ms for 100 ms), and a reading may come just before the refresh.
constexpr double kMissedRefresh = 0.04;

// The power may swing within what cannot be told apart without a trace in the readings: by half its mean.
constexpr double kHiddenSwing = 0.5;
// Standard deviation of the energy of a two-level rhythm cut at a random moment: of a triangle of swing *
// rhythm / 2, over its swing and rhythm.
constexpr double kCutRhythm = 0.144;

// Of a stretch in which nothing was read we claim no more than "within half of its neighbours' power".
constexpr double kBlindFraction = 0.5;

}  // namespace

PowerIntegral::PowerIntegral(SensorSight sensor) : sensor_(sensor) {}

double PowerIntegral::unseen_share() const {
  return sensor_.unseen() <= 0.0 ? kMissedRefresh : sensor_.unseen_variance(step_.has_value());
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
  if (length <= kBridgedPeriods * sensor_.period.value()) {
    const double share = seconds / length;
    p.power_w = a + (b - a) * share;
    p.measured_j += 0.5 * (a + p.power_w) * seconds;
    p.read_s += seconds;
    p.square_w2s += (a * a + (b * b - a * a) * 0.5 * share) * seconds;
    p.variance_j2 += unseen_share() * std::pow((b - a) * length, 2) * share;
    return p;
  }
  const double mean = 0.5 * (a + b);
  const double held_first = std::min(seconds, sensor_.period.value());
  const double blind = std::clamp(seconds - sensor_.period.value(), 0.0, length - 2 * sensor_.period.value());
  const double held_last = std::max(0.0, seconds - (length - sensor_.period.value()));
  p.measured_j += a * held_first + b * held_last;
  p.estimated_j += mean * blind;
  p.linear_band_j += gap_band(mean) * blind + std::abs(b - a) * (held_first + held_last);
  p.read_s += held_first + held_last;
  p.square_w2s += a * a * held_first + b * b * held_last;
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
    gaps_.push_back({last.at + Seconds(sensor_.period.value()), at - Seconds(sensor_.period.value()),
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

PowerPoint PowerIntegral::point_at(TimePoint t, double held_s) const {
  const bool before = t < nodes_.front().at;
  if (before || t > nodes_.back().at) {
    const Node& end = before ? nodes_.front() : nodes_.back();
    const Node* neighbour = nodes_.size() < 2 ? nullptr : (before ? &nodes_[1] : &nodes_[nodes_.size() - 2]);
    const Blind blind = beyond(end, neighbour);
    const double away = std::abs((t - end.at).value());
    const double held = std::min(away, held_s);
    const double gap = away - held;
    const double sign = before ? -1.0 : 1.0;
    PowerPoint p = end.sum;
    p.measured_j += sign * blind.power_w * held;
    p.estimated_j += sign * blind.power_w * gap;
    p.linear_band_j += sign * (blind.hold_band_w * held + blind.gap_band_w * gap);
    p.read_s += sign * held;
    p.square_w2s += sign * blind.power_w * blind.power_w * held;
    p.gap_s += sign * gap;
    return p;
  }
  const auto after = std::upper_bound(nodes_.begin(), nodes_.end(), t,
                                      [](TimePoint value, const Node& n) { return value < n.at; });
  const Node& from = *std::prev(after);
  if (after == nodes_.end() || from.at == t) return from.sum;
  return advance(from, *after, (t - from.at).value());
}

std::optional<PowerPoint> PowerIntegral::at(TimePoint t) const {
  if (nodes_.empty() || (t < nodes_.front().at && forgot_)) return std::nullopt;
  return point_at(t, sensor_.period.value());
}

std::optional<PowerPoint> PowerIntegral::edge(TimePoint t) const {
  if (nodes_.empty() || (t < nodes_.front().at && forgot_)) return std::nullopt;
  const Seconds behind = sensor_.behind();
  PowerPoint p = point_at(t + behind, (sensor_.period + behind).value());
  // y' = (x - y) / lag: what x has and y lacks by now is lag * y.
  if (sensor_.lag) p.lag_j = sensor_.lag->value() * p.power_w;
  p.edge_variance_j2 = edge_variance(t + behind, p.power_w);
  return p;
}

double PowerIntegral::edge_variance(TimePoint t, double power_w) const {
  const double blur = sensor_.blur().value();
  const double rhythm = std::min(blur, step_ ? step_->value() : blur);
  const auto near = range(t - Seconds(blur), t + Seconds(blur));
  const double seen = near ? (near->highest - near->lowest).value() : 0.0;
  // What moved near the edge moved at an unknown moment within the blur; a mean over much more than the
  // period is cut to a triangle, whose middle is the edge.
  const double moved = seen * blur * (sensor_.window_or_none() > sensor_.period ? 0.125 : 0.25);
  const double hidden = kCutRhythm * std::max(seen, kHiddenSwing * power_w) * rhythm;
  return moved * moved + hidden * hidden;
}

PowerEnergy PowerIntegral::between(const PowerPoint& begin, const PowerPoint& end) const {
  // The sums grow without end while a window does not: rounding may leave a difference just below zero.
  const double unseen = std::max(0.0, end.variance_j2 - begin.variance_j2);
  const double linear = std::max(0.0, end.linear_band_j - begin.linear_band_j);
  // How late readings are within the period is not known, but the same at both edges.
  const double late = sensor_.period.value() / std::sqrt(12.0) * (end.power_w - begin.power_w);
  const double variance = unseen + late * late + begin.edge_variance_j2 + end.edge_variance_j2;
  const double read_s = end.read_s - begin.read_s;
  const double mean_w = read_s > 0 ? (end.measured_j - begin.measured_j) / read_s : 0.0;
  const double mean_square = read_s > 0 ? (end.square_w2s - begin.square_w2s) / read_s : 0.0;
  return {.measured = Joules(end.measured_j - begin.measured_j + end.lag_j - begin.lag_j),
          .estimated = Joules(end.estimated_j - begin.estimated_j),
          .band = Joules(kNinetyFive * std::sqrt(variance) + linear),
          .unseen_sigma = Joules(std::sqrt(unseen)),
          .gap_time = Seconds(std::max(0.0, end.gap_s - begin.gap_s)),
          .spread = Watts(std::sqrt(std::max(0.0, mean_square - mean_w * mean_w)))};
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
  const TimePoint first = nodes_.front().at - Seconds(sensor_.period.value());
  const TimePoint last = nodes_.back().at + Seconds(sensor_.period.value());
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
