#include "measure/counter_track.h"

#include <algorithm>
#include <cmath>

namespace rubato::measure {
namespace {

// How far the counter's line is drawn beyond its updates, in counter periods; further away it is stuck or
// unread.
constexpr double kReach = 3.0;
// A counter that was read and did not move for longer than both stands still; a quiet one still counts the
// watts of an idle board.
constexpr double kStillPeriods = 10.0;
constexpr Seconds kShortestStill{1.0};
// A counter that catches up tells the truth late. One that shows less than this part of the integrated power
// has lost the rest; boards' own gain errors stay within 41 % (arXiv 2312.02741).
constexpr double kCaughtUp = 0.5;
// How far around an edge the power is looked at to see how much it moves there.
constexpr double kNear = 5.0;
// Between two updates the power may swing without a trace in the readings: by half of it.
constexpr double kHiddenSwing = 0.5;

// Two doubts: when the update happened, anywhere within its half width; and how the energy between two
// updates was spread, `uneven_s` seconds of the swing at most.
double edge_variance(const PowerRange& near, double half_width_s, double uneven_s) {
  const double swing = std::max((near.highest - near.lowest).value(), kHiddenSwing * near.highest.value());
  return (std::pow(near.highest.value() * half_width_s, 2) + std::pow(swing * uneven_s, 2)) / 3.0;
}

bool lost_energy(TimePoint begin, TimePoint end, Joules advance, const PowerIntegral& power) {
  const auto drawn = power.over(begin, end);
  return drawn && advance < kCaughtUp * drawn->total();
}

}  // namespace

CounterTrack::CounterTrack(Seconds counter_period, Watts most) : period_(counter_period), most_(most) {}

CounterStep CounterTrack::add(TimePoint at, Joules counter, const PowerIntegral& power, bool rests) {
  CounterStep step = diff_.update(counter);
  const Seconds unseen = last_seen_ ? at - *last_seen_ : period_;
  last_seen_ = at;
  const auto* advance = std::get_if<CounterAdvance>(&step);
  if (advance && advance->by == Joules(0)) {
    if (rests && !nodes_.empty() && at - nodes_.back().at > period_ * kReach) {
      Node rest = nodes_.back();
      rest.at = at;
      rest.half_width_s = 0;
      nodes_.push_back(rest);
    }
    return step;
  }

  const Seconds doubt = std::min(unseen, period_);
  Node node{at - doubt / 2, counter, doubt.value() / 2, 0, 0, {}};
  if (nodes_.empty()) {
    nodes_.push_back(node);
    return step;
  }
  if (drop_glitch(node)) {
    step = CounterAdvance{counter - nodes_.back().shown};
    advance = std::get_if<CounterAdvance>(&step);
  }
  const Node& last = nodes_.back();
  node.energy_j = last.energy_j;
  node.join_band_j = last.join_band_j;
  node.faults = last.faults;
  const Joules most = most_between(last.at, node.at);
  if (!advance && counter <= most) {
    ++node.faults.resets;
    // The new counter began at zero inside the hole, so what it shows was drawn there.
    join(node, counter, power);
  } else if (!advance || advance->by > most) {
    ++node.faults.jumps;
    join(node, Joules(0), power);
    step = CounterJump{counter - last.shown};
  } else if (const auto still = stood_still(at, unseen);
             still && lost_energy(last.at, at, advance->by, power)) {
    ++node.faults.stills;
    join(node, advance->by, power);
    step = CounterStood{*still};
  } else {
    node.energy_j += advance->by.value();
    learn_pace(node);
  }
  nodes_.push_back(node);
  return step;
}

Joules CounterTrack::most_between(TimePoint from, TimePoint to) const {
  return most_ * (to - from + period_);
}

bool CounterTrack::drop_glitch(const Node& node) {
  if (nodes_.size() < 2) return false;
  const Node& last = nodes_.back();
  const Node& before = nodes_[nodes_.size() - 2];
  // A value that was too high is fallen back from; one that was too low was a fault when it came.
  const auto wrong = [](const CounterFaults& f) { return f.resets + f.jumps; };
  const bool doubtful = node.shown < last.shown || wrong(last.faults) > wrong(before.faults);
  const Joules since = node.shown - before.shown;
  if (!doubtful || since < Joules(0) || since > most_between(before.at, node.at)) return false;
  nodes_.pop_back();
  return true;
}

// Only of what was not bridged; the first reading is no update, so the wait after it is too short.
void CounterTrack::learn_pace(const Node& node) {
  const Joules rise = node.shown - nodes_.back().shown;
  least_rise_ = least_rise_ ? std::min(*least_rise_, rise) : rise;
  longest_wait_ = std::max(longest_wait_, node.at - nodes_.back().at);
}

void CounterTrack::join(Node& node, Joules at_least, const PowerIntegral& power) const {
  const Node& last = nodes_.back();
  if (const auto hole = power.over(last.at, node.at)) {
    node.energy_j += std::max(hole->total(), at_least).value();
    node.join_band_j += hole->band.value();
    return;
  }
  const double guess =
      std::max(range_near(last.at, power).highest.value() * (node.at - last.at).value(), at_least.value());
  node.energy_j += guess;
  node.join_band_j += guess;
}

std::optional<Seconds> CounterTrack::stood_still(TimePoint at, Seconds unseen) const {
  const Seconds still = at - nodes_.back().at - unseen;
  if (still < std::max(kStillPeriods * period_, kShortestStill)) return std::nullopt;
  return still;
}

std::optional<Seconds> CounterTrack::still_for() const {
  if (!last_seen_ || nodes_.empty()) return std::nullopt;
  return *last_seen_ - nodes_.back().at;
}

PowerRange CounterTrack::range_near(TimePoint t, const PowerIntegral& power) const {
  if (const auto seen = power.range(t - period_ * kNear, t + period_ * kNear)) return *seen;
  // Power cannot be read: the slopes of the counter itself, three on either side.
  const auto after = std::upper_bound(nodes_.begin(), nodes_.end(), t,
                                      [](TimePoint value, const Node& n) { return value < n.at; });
  const auto middle = after - nodes_.begin();
  const auto size = static_cast<std::ptrdiff_t>(nodes_.size());
  PowerRange range{Watts(0), Watts(0)};
  bool any = false;
  for (auto i = std::max<std::ptrdiff_t>(1, middle - 3); i < std::min(size, middle + 4); ++i) {
    const Node& a = nodes_[static_cast<std::size_t>(i - 1)];
    const Node& b = nodes_[static_cast<std::size_t>(i)];
    if (a.faults.count() != b.faults.count()) continue;
    const Watts slope = Joules(b.energy_j - a.energy_j) / (b.at - a.at);
    range = any ? PowerRange{std::min(range.lowest, slope), std::max(range.highest, slope)}
                : PowerRange{slope, slope};
    any = true;
  }
  return range;
}

std::optional<CounterPoint> CounterTrack::extrapolate(const Node& end, TimePoint t,
                                                      const PowerIntegral& power) const {
  const Seconds away = t - end.at;
  if (abs(away) > period_ * kReach) {
    const auto hole = power.over(end.at, std::max(t, end.at));
    if (away > Seconds(0) && power.readings() == 0) return within_step(end, away);
    if (away < Seconds(0) || nodes_.size() < 2 || !hole || hole->gap_time > 0.5 * away) return std::nullopt;
    CounterPoint bridged{end.energy_j + hole->total().value(), 0, end.join_band_j + hole->band.value(),
                         end.faults};
    ++bridged.faults.stills;
    return bridged;
  }
  const PowerRange range = range_near(t, power);
  CounterPoint p{end.energy_j, edge_variance(range, end.half_width_s, std::abs(away.value())),
                 end.join_band_j, end.faults};
  const auto integral = power.over(std::min(t, end.at), std::max(t, end.at));
  const double energy = integral ? integral->total().value()
                                 : 0.5 * (range.lowest + range.highest).value() * std::abs(away.value());
  p.energy_j += away.value() < 0 ? -energy : energy;
  return p;
}

std::optional<CounterPoint> CounterTrack::within_step(const Node& end, Seconds away) const {
  if (!least_rise_ || away > kStillPeriods * longest_wait_) return std::nullopt;
  const double step = least_rise_->value();
  const Node& first = nodes_.front();
  const double pace = end.at > first.at ? (end.energy_j - first.energy_j) / (end.at - first.at).value() : 0;
  const double flowed = pace > 0 ? std::min(pace * away.value(), step) : 0.5 * step;
  return CounterPoint{end.energy_j + flowed, std::pow(std::max(flowed, step - flowed), 2) / 3.0,
                      end.join_band_j, end.faults};
}

std::optional<CounterPoint> CounterTrack::at(TimePoint t, const PowerIntegral& power) const {
  if (nodes_.empty()) return std::nullopt;
  if (t < nodes_.front().at) {
    if (forgot_) return std::nullopt;
    return extrapolate(nodes_.front(), t, power);
  }
  const auto after = std::upper_bound(nodes_.begin(), nodes_.end(), t,
                                      [](TimePoint value, const Node& n) { return value < n.at; });
  const Node& a = *std::prev(after);
  if (after == nodes_.end()) return extrapolate(a, t, power);
  const Node& b = *after;
  const double length = (b.at - a.at).value();
  const double share = (t - a.at).value() / length;
  const PowerRange range = range_near(t, power);
  CounterPoint p;
  p.energy_j = a.energy_j + (b.energy_j - a.energy_j) * share;
  p.edge_variance_j2 =
      edge_variance(range, std::max(a.half_width_s, b.half_width_s), length * share * (1 - share));
  p.join_band_j = a.join_band_j + (b.join_band_j - a.join_band_j) * share;
  p.faults = share > 0.5 ? b.faults : a.faults;
  // The first reading fell somewhere inside a step, which no power tells.
  if (&a == &nodes_.front() && !forgot_ && least_rise_ && power.readings() == 0)
    p.edge_variance_j2 += std::pow((1 - share) * least_rise_->value(), 2) / 3.0;
  return p;
}

void CounterTrack::forget(TimePoint before) {
  while (nodes_.size() >= 2 && nodes_[1].at <= before) {
    nodes_.pop_front();
    forgot_ = true;
  }
}

}  // namespace rubato::measure
