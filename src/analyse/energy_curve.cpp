#include "analyse/energy_curve.h"

#include <algorithm>
#include <cmath>

#include "core/most_power.h"

namespace rubato::analyse {
namespace {

constexpr Seconds kUsualUpdatePeriod{0.1};
// One lost tick is ordinary; longer than this many update periods is a hole.
constexpr double kBridgedPeriods = 3.0;
// A counter seen at one value for longer than both stands still while energy flows.
constexpr double kStillPeriods = 10.0;
constexpr Seconds kShortestStill{1.0};
// Afterwards it has lost energy where it shows less than this part of the integrated power; else it was late.
// These three as in src/measure/counter_track.cpp.
constexpr double kCaughtUp = 0.5;
// Of a hole no more is claimed than "within half of its neighbours' power", as src/measure does.
constexpr double kBlindFraction = 0.5;
// A distance of more than so many median ones is a hole.
constexpr std::int64_t kLongestPace = 25;
// How many segments around a cut show how much the power moves there.
constexpr std::size_t kNeighbours = 3;

bool usable(const std::optional<Watts>& power) {
  return power && std::isfinite(power->value()) && power->value() >= 0;
}
bool usable(const std::optional<Joules>& counter) {
  return counter && std::isfinite(counter->value()) && counter->value() >= 0;
}

// Readings of a meter nobody knows tell their own pace: the one that most of the time was read at, since a
// burst of quick reads, by which a sensor is got to know, holds more readings than half a minute after it. A
// hole is no pace.
Seconds usual_distance(const std::vector<FastReading>& readings) {
  if (readings.size() < 3) return kUsualUpdatePeriod;
  std::vector<std::int64_t> apart;
  apart.reserve(readings.size() - 1);
  for (std::size_t i = 1; i < readings.size(); ++i)
    apart.push_back(readings[i].at.ns - readings[i - 1].at.ns);
  std::ranges::sort(apart);
  const std::int64_t longest = kLongestPace * apart[apart.size() / 2];
  const auto weight = [longest](std::int64_t distance) {
    return distance > longest ? 0 : std::max(distance, std::int64_t{0});
  };
  std::int64_t time = 0;
  for (const std::int64_t distance : apart) time += weight(distance);
  std::int64_t passed = 0;
  for (const std::int64_t distance : apart)
    if ((passed += weight(distance)) > time / 2) return Seconds(static_cast<double>(distance) * 1e-9);
  return kUsualUpdatePeriod;
}

}  // namespace

EnergyCurve::EnergyCurve(const SeriesView& series, const SensorFacts& sensor, bool corrected,
                         std::shared_ptr<const StepTimes> steps)
    : beat_(series, sensor, std::move(steps)),
      averaging_(sensor.averaging_window.value_or(Seconds(0))),
      counter_sees_all_(sensor.counter_sees_all && series.scope == Scope::gpu) {
  if (corrected && sensor.gain) {
    gain_ = *sensor.gain;
    offset_ = sensor.offset.value_or(Watts(0));
  }
  const std::vector<FastReading>& readings = *series.readings;
  period_ = sensor.update_period ? *sensor.update_period : usual_distance(readings);
  if (!(period_ > Seconds(0))) period_ = kUsualUpdatePeriod;
  if (readings.empty()) return;
  std::vector<std::size_t> with_counter;
  if (series.counter != nullptr)
    for (std::size_t i = 0; i < readings.size(); ++i)
      if (usable(readings[i].*series.counter)) with_counter.push_back(i);
  const auto value = [&](std::size_t i) { return *(readings[i].*series.counter); };
  if (std::ranges::any_of(with_counter, [&](std::size_t i) { return value(i) != value(with_counter[0]); }))
    from_counter(series, with_counter, sensor.counter_period.value_or(period_));
  else
    from_power(series, 0, readings.size() - 1);
}

void EnergyCurve::step(TimePoint at, double joules, double jitter) {
  if (at <= knots_.back().at) return;
  Knot next = knots_.back();
  next.at = at;
  next.joules += joules;
  next.jitter = jitter;
  knots_.push_back(next);
}

void EnergyCurve::estimate(TimePoint at, double watts) {
  if (at <= knots_.back().at) return;
  const double seconds = (at - knots_.back().at).value();
  step(at, watts * seconds, 0);
  knots_.back().linear += kBlindFraction * watts * seconds;
  knots_.back().unseen += seconds;
  knots_.back().powered += seconds;
}

// Appends the readings (first, last]; what the curve has already lies before them.
void EnergyCurve::from_power(const SeriesView& series, std::size_t first, std::size_t last) {
  const std::vector<FastReading>& readings = *series.readings;
  std::optional<std::size_t> before;
  for (std::size_t i = first; i <= last; ++i) {
    const auto& power = readings[i].*series.power;
    if (!usable(power)) continue;
    if (knots_.empty()) knots_.push_back({.at = readings[i].at});
    const double b = power->value();
    const double a = before ? (readings[*before].*series.power)->value() : b;
    before = i;
    const double seconds = (readings[i].at - knots_.back().at).value();
    if (seconds > kBridgedPeriods * period_.value()) {
      estimate(readings[i].at, 0.5 * (a + b));
      continue;
    }
    if (seconds <= 0) continue;
    step(readings[i].at, 0.5 * (a + b) * seconds, 0);
    // The step from a to b may have come right after the one reading or right before the other.
    knots_.back().variance += std::pow(0.5 * (b - a) * seconds, 2);
    knots_.back().powered += seconds;
  }
}

// Where the counter tells nothing that can be believed: by power, and where that was not read either at the
// power before.
void EnergyCurve::bridge(const SeriesView& series, std::size_t first, std::size_t last) {
  from_power(series, first, last);
  const TimePoint end = (*series.readings)[last].at;
  if (!knots_.empty() && knots_.back().at >= end) return;
  if (knots_.size() > 1)
    estimate(end, slope(knots_.size() - 2));
  else
    knots_.assign(1, {.at = end});  // nothing is known of the time before
}

// A counter moves in steps: only readings that show a new value place energy in time.
void EnergyCurve::from_counter(const SeriesView& series, const std::vector<std::size_t>& with_counter,
                               Seconds counter_period) {
  const std::vector<FastReading>& readings = *series.readings;
  const Watts most = most_power(series.scope);
  const auto value = [&](std::size_t i) { return *(readings[i].*series.counter); };
  const auto possible = [&](std::size_t before, std::size_t after) {
    const Joules rise = value(after) - value(before);
    return rise >= Joules(0) && rise <= most * (readings[after].at - readings[before].at + counter_period);
  };
  std::size_t anchor = with_counter.front();  // the first reading of the value that is believed
  std::size_t last_old = anchor;              // and the last one
  struct {
    bool known = false;
    std::size_t reading = 0;
    std::size_t knots = 0;
    bool present_believed = false;
  } before;  // the value before the present one, and the curve up to it
  bool moved = false;
  const bool powered = std::ranges::any_of(readings, [&](const auto& r) { return usable(r.*series.power); });
  bridge(series, 0, anchor);
  for (std::size_t k = 1; k < with_counter.size(); ++k) {
    const std::size_t i = with_counter[k];
    const Joules rise = value(i) - value(anchor);
    const Seconds since = readings[i].at - readings[anchor].at;
    if (rise == Joules(0)) {
      last_old = i;
      if (series.rests && !usable(readings[i].*series.power) && since > kBridgedPeriods * counter_period)
        step(readings[i].at, 0, 0);
      continue;
    }
    const bool believed = possible(anchor, i);
    // The present value was read wrongly where this one goes on from the one before as if that had not been
    // (measure::CounterTrack).
    const bool doubtful = rise < Joules(0) || !before.present_believed;
    if (before.known && doubtful && possible(before.reading, i)) {
      before.known = false;
      knots_.resize(before.knots);
      anchor = before.reading;
      last_old = i;
      const Joules rose = value(i) - value(anchor);
      if (rose == Joules(0)) continue;
      step(readings[i].at, rose.value(),
           std::min(readings[i].at - readings[anchor].at, counter_period).value());
      has_counter_ = true;
      anchor = i;
      continue;
    }
    // Of a register that is all that is read, nobody knows better when it moves.
    const bool still = powered && readings[last_old].at - readings[anchor].at >
                                      std::max(kStillPeriods * counter_period, kShortestStill);
    // The first value was read somewhere inside its period: the step after it holds energy from before.
    const bool partial = !moved && since < counter_period;
    const std::size_t known = knots_.size();
    const double joules = knots_.back().joules;
    if (!believed || still || partial) bridge(series, anchor, i);
    if (believed && !partial && (!still || rise.value() >= kCaughtUp * (knots_.back().joules - joules))) {
      knots_.resize(known);
      // It happened after the last reading of the old value, and no longer than a period ago.
      step(readings[i].at, rise.value(),
           std::min(readings[i].at - readings[last_old].at, counter_period).value());
    }
    has_counter_ = has_counter_ || believed;
    before = {true, anchor, known, believed};
    moved = true;
    anchor = i;
    last_old = i;
  }
  // After the last step: not longer than a period or so, unless the counter died.
  from_power(series, anchor, readings.size() - 1);
}

double EnergyCurve::slope(std::size_t segment) const {
  const Knot& a = knots_[segment];
  const Knot& b = knots_[segment + 1];
  return (b.joules - a.joules) / (b.at - a.at).value();
}

EnergyCurve::Point EnergyCurve::at(TimePoint t) const {
  const auto above = std::ranges::upper_bound(knots_, t, {}, &Knot::at);
  const auto index = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, above - knots_.begin() - 1));
  const std::size_t segment = std::min(index, knots_.size() - 2);
  const Knot& a = knots_[segment];
  const Knot& b = knots_[segment + 1];
  const double length = (b.at - a.at).value();
  const double share = (t - a.at).value() / length;  // outside [0, 1] beyond the ends: the line goes on
  const double inside = std::clamp(share, 0.0, 1.0);
  const double beyond = std::abs(share - inside) * length;
  Point p;
  p.sum = a;
  p.sum.at = t;
  p.sum.joules += (b.joules - a.joules) * share;
  p.sum.variance += (b.variance - a.variance) * inside;
  p.sum.linear += (b.linear - a.linear) * inside;
  p.sum.unseen += (b.unseen - a.unseen) * inside;
  p.sum.powered += (b.powered - a.powered) * inside;
  double lowest = slope(segment);
  double highest = lowest;
  const std::size_t from = segment - std::min(segment, kNeighbours);
  const std::size_t to = std::min(segment + kNeighbours, knots_.size() - 2);
  for (std::size_t s = from; s <= to; ++s) {
    lowest = std::min(lowest, slope(s));
    highest = std::max(highest, slope(s));
  }
  const double range = highest - lowest;
  p.edge_band = range * (length * inside * (1 - inside) + beyond + averaging_.value()) +
                0.5 * slope(segment) * std::max(a.jitter, b.jitter) +
                kBlindFraction * slope(segment) * beyond;
  return p;
}

std::optional<CurveEnergy> EnergyCurve::between(TimePoint from, TimePoint to) const {
  if (empty() || to <= from || from < begin() || to > end()) return std::nullopt;
  const Point a = at(from);
  const Point b = at(to);
  // Integrated power has what its looks may miss in the variance of its own knots.
  const bool counted = b.sum.powered - a.sum.powered <= kBridgedPeriods * period_.value();
  const bool all_seen = has_counter_ && counter_sees_all_ && counted;
  const Joules looks = has_counter_ && !all_seen ? beat_.of_looks(from, to) : Joules(0);
  const Joules beat = all_seen ? Joules(0) : beat_.of_beat(from, to);
  const double independent = a.edge_band * a.edge_band + b.edge_band * b.edge_band + b.sum.variance -
                             a.sum.variance + std::pow(beat.value(), 2) + std::pow(looks.value(), 2);
  const Joules read(std::max(0.0, b.sum.joules - a.sum.joules));
  const Joules band(std::sqrt(std::max(0.0, independent)) + b.sum.linear - a.sum.linear);
  return CurveEnergy{read / gain_ - offset_ * (to - from), band / gain_,
                     Seconds(std::max(0.0, b.sum.unseen - a.sum.unseen)), to - from};
}

}  // namespace rubato::analyse
