#include "measure/energy_meter.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/text.h"
#include "core/most_power.h"

namespace rubato::measure {
namespace {

// Most boards since Maxwell update at 100 ms (arXiv 2312.02741, over 70 GPUs); the counter follows the same
// beat.
constexpr Seconds kUsualPeriod{0.1};

// Under 50 updates one update at an edge is more than 2 % of the window: such a window is a split, not a
// measurement.
constexpr double kUpdatesToMeasure = 50;

// Edges look a little way around themselves to see how much the power moves.
constexpr double kKeepPeriods = 10;

// 95 % of a normal distribution, in standard deviations.
constexpr double kNinetyFive = 1.96;

// A window cut inside a fault sees it on neither side.
CounterFaults faults_between(const CounterFaults& from, const CounterFaults& to) {
  const auto more = [](unsigned a, unsigned b) { return b > a ? b - a : 0U; };
  return {more(from.resets, to.resets), more(from.jumps, to.jumps), more(from.stills, to.stills)};
}

std::string in_words(const CounterFaults& faults) {
  std::string words;
  const auto add = [&words](unsigned times, std::string_view one, std::string_view several) {
    if (times > 0) words += cat(words.empty() ? "" : ", ", times, " ", times == 1 ? one : several);
  };
  add(faults.resets, "counter reset", "counter resets");
  add(faults.jumps, "impossible jump of the counter", "impossible jumps of the counter");
  add(faults.stills, "stretch in which the counter stood still",
      "stretches in which the counter stood still");
  return words;
}

}  // namespace

EnergyMeter::EnergyMeter(SensorFacts facts, Kind kind, std::string gpu_name, Scope scope)
    : facts_(std::move(facts)),
      kinds_{{TimePoint{INT64_MIN}, kind}},
      gpu_name_(std::move(gpu_name)),
      scope_(scope),
      period_(facts_.update_period.value_or(kUsualPeriod)),
      counter_period_(facts_.counter_period.value_or(period_)),
      power_(sight()),
      counter_(counter_period_, most_power(scope)) {}

void EnergyMeter::learn(SensorFacts facts) {
  facts_ = std::move(facts);
  period_ = facts_.update_period.value_or(kUsualPeriod);
  counter_period_ = facts_.counter_period.value_or(period_);
  refresh_.forget();
  power_.set_sensor(sight());
  counter_.set_period(counter_period_);
}

SensorSight EnergyMeter::sight() const {
  return {period_, facts_.averaging_window, facts_.lag};
}

SensorSight EnergyMeter::beating_sight() const {
  return {refresh_.period(period_), facts_.averaging_window, facts_.lag};
}

void EnergyMeter::learn_step(Seconds step, Seconds spread) {
  step_ = step > Seconds(0) ? std::optional(StepTime{step, std::max(Seconds(0), spread)}) : std::nullopt;
  power_.set_step(step_ ? std::optional(step_->mean) : std::nullopt);
}

Joules EnergyMeter::beat_sigma(const PowerEnergy& integrated, TimePoint begin, TimePoint end) const {
  if (!step_) return Joules(0);
  const Seconds length = end - begin;
  return rubato::beat_sigma(*step_, beating_sight(), length, integrated.total() / length, integrated.spread);
}

Joules EnergyMeter::calibration_band(const EnergyWindow& w) const {
  return w.energy * facts_.calibration_band + facts_.calibration_floor * w.duration();
}

void EnergyMeter::calibrate(EnergyWindow& w) const {
  w.band_calibration = calibration_band(w);
  // A module or a memory is read by another sensor than the one that was held against a meter.
  if (!facts_.gain || scope_ != Scope::gpu) return;
  w.energy = w.energy / *facts_.gain - facts_.offset.value_or(Watts(0)) * w.duration();
  w.band_sampling = w.band_sampling / *facts_.gain;
  w.band_calibration = w.band_calibration / *facts_.gain;
  w.source.quality += cat("; ", facts_.calibrated_by.empty() ? "calibrated" : facts_.calibrated_by);
}

std::optional<CounterStep> EnergyMeter::add(const FastReading& reading) {
  if (latest_ && reading.at <= *latest_) return std::nullopt;
  if (!reading.power && !reading.energy_counter) return std::nullopt;
  latest_ = reading.at;
  if (reading.power && power_.add(reading.at, *reading.power))
    refresh_.add(reading.at, *reading.power, period_);
  if (!reading.energy_counter) return std::nullopt;
  if (!std::isfinite(reading.energy_counter->value()) || *reading.energy_counter < Joules(0)) {
    ++nonsense_;
    return std::nullopt;
  }
  // A table's counter counts its work alone, and where there is none it tells no power either.
  const Kind kind = kinds_.back().second;
  const bool rests = !reading.power && (kind == Kind::replayed || kind == Kind::interpolated);
  return counter_.add(reading.at, *reading.energy_counter, power_, rests);
}

EnergyMeter::Edge EnergyMeter::edge_at(TimePoint t) const {
  if (const auto pin = pins_.find(t); pin != pins_.end() && pin->second) return *pin->second;
  return {counter_.at(t, power_), power_.edge(t)};
}

void EnergyMeter::now_is(TimePoint at, Kind kind) {
  if (kinds_.back().second != kind) kinds_.emplace_back(at, kind);
}

Kind EnergyMeter::kind_within(TimePoint begin, TimePoint end) const {
  Kind kind = kinds_.front().second;
  for (const auto& [since, other] : kinds_) {
    if (since >= end) break;
    kind = since <= begin ? other : std::max(kind, other);
  }
  return kind;
}

Source EnergyMeter::source(std::string_view name, TimePoint begin, TimePoint end) const {
  const Seconds length = end - begin;
  const bool counted = name == kEnergyCounter;
  Source s{std::string(name), "J", scope_, kind_within(begin, end), {}};
  s.quality = cat("sensor updates every ", period_, facts_.update_period ? "" : " (assumed)");
  if (counted) {
    s.quality += cat(", counter every ", counter_period_, facts_.counter_period ? "" : " (assumed)");
  }
  if (facts_.lag)
    s.quality += cat(", each reading creeps after the power with a time constant of ", *facts_.lag);
  else if (facts_.averaging_window)
    s.quality += cat(", each reading a mean over ", *facts_.averaging_window);
  const Seconds update = counted ? std::max(period_, counter_period_) : period_;
  if (s.kind == Kind::measured && length < update * kUpdatesToMeasure) {
    s.kind = Kind::apportioned;
    s.quality += "; fewer than 50 sensor updates: split by linear interpolation";
  }
  return s;
}

std::string EnergyMeter::why_no_counter() const {
  std::string why;
  if (const auto still = counter_.still_for(); still && counter_.updates() == 1 && *still > counter_period_)
    why = cat("; the energy counter did not move in ", *still);
  else if (still)
    why = "; the energy counter was not readable at the window's edges";
  if (nonsense_ > 0)
    why += cat("; ", nonsense_, " reading(s) of the energy counter were below zero or no number");
  return why;
}

Result<EnergyWindow> EnergyMeter::window(TimePoint begin, TimePoint end) const {
  return inspect(begin, end).map([](WindowDetail detail) { return std::move(detail.window); });
}

Result<WindowDetail> EnergyMeter::inspect(TimePoint begin, TimePoint end) const {
  const Seconds length = end - begin;
  if (end <= begin) {
    return fail(ErrorCode::invalid_argument, cat(gpu_name_, ": a window of ", length,
                                                 " has no energy; its end must "
                                                 "come after its begin"));
  }
  const Edge from = edge_at(begin);
  const Edge to = edge_at(end);
  std::optional<PowerEnergy> integrated;
  if (from.power && to.power) integrated = power_.between(*from.power, *to.power);

  // Whoever counts reads the same sensor: what that does not see is not in the counter either, unless it was
  // measured to see everything.
  const Joules beat = integrated ? beat_sigma(*integrated, begin, end) : Joules(0);
  const double unseen_j2 = integrated ? std::pow(integrated->unseen_sigma.value(), 2) : 0.0;

  WindowDetail detail;
  const bool counted = from.counter && to.counter;
  if (counted) detail.counter_faults = faults_between(from.counter->faults, to.counter->faults);
  // It was measured of the GPU's counter, and where that fails power stands in.
  const bool all_seen =
      counted && facts_.counter_sees_all && scope_ == Scope::gpu && detail.counter_faults.count() == 0;
  if (step_ && !all_seen) detail.beat = find_beat(*step_, beating_sight(), length, kPeriodDoubt);
  EnergyWindow& w = detail.window;
  w.begin = begin;
  w.end = end;
  detail.gaps = power_.gaps(begin, end);
  if (counted) {
    w.source = source(kEnergyCounter, begin, end);
    w.energy = Joules(std::max(0.0, to.counter->energy_j - from.counter->energy_j));
    const double missed_j2 = (sight().unseen() > 0 ? unseen_j2 : 0.0) + beat.value() * beat.value();
    const double variance =
        from.counter->edge_variance_j2 + to.counter->edge_variance_j2 + (all_seen ? 0.0 : missed_j2);
    w.band_sampling = Joules(kNinetyFive * std::sqrt(variance) +
                             std::max(0.0, to.counter->join_band_j - from.counter->join_band_j));
    if (detail.counter_faults.count() > 0)
      w.source.quality += cat("; joined with integrated power across ", in_words(detail.counter_faults));
  } else if (integrated && integrated->gap_time < length) {
    w.source = source(kIntegratedPower, begin, end);
    w.source.quality += why_no_counter();
    w.energy = integrated->total();
    w.band_sampling = Joules(std::hypot(integrated->band.value(), kNinetyFive * beat.value()));
    if (integrated->gap_time > Seconds(0)) {
      w.source.quality += cat("; ", integrated->gap_time, " without readings, ", integrated->estimated,
                              " of the energy estimated there");
    }
  } else {
    return fail(
        ErrorCode::unavailable,
        cat(gpu_name_, ": no power or energy readings cover a window of ", length, "; its energy is unknown"),
        "rubato doctor");
  }
  if (detail.beat) {
    w.source.quality += cat("; iterations beat with the sensor (", detail.beat->looks, " looks fall on ",
                            detail.beat->steps, " iterations): the sampling band is wider for it");
  }
  if (w.source.name == kEnergyCounter && integrated && integrated->gap_time == Seconds(0)) {
    const Joules apart = abs(w.energy - integrated->total());
    const Joules allowed = w.band_sampling + integrated->band + calibration_band(w);
    if (apart > allowed) {
      detail.disagreement =
          cat("the energy counter says ", w.energy, ", integrated power ", integrated->total(), ": ", apart,
              " apart, more than the bands (", allowed, ") explain");
      w.source.quality += "; " + *detail.disagreement;
    }
  }
  calibrate(w);
  return detail;
}

void EnergyMeter::pin(TimePoint moment) {
  pins_.try_emplace(moment);
}

void EnergyMeter::unpin(TimePoint moment) {
  pins_.erase(moment);
}

void EnergyMeter::forget(TimePoint before) {
  if (!latest_) return;
  // An edge needs the readings after it, too: what is newer than this is never dropped.
  const Seconds margin = std::max({period_, counter_period_, 0.2 * sight().blur()}) * kKeepPeriods;
  const TimePoint limit = std::min(before, *latest_) - margin;
  // Of a counter alone an edge is not known before it has moved.
  const bool known = power_.readings() > 0 || counter_.updates() > 1;
  for (auto& [moment, edge] : pins_) {
    if (!edge && moment < limit && known) edge = edge_at(moment);
  }
  power_.forget(limit);
  counter_.forget(limit);
}

}  // namespace rubato::measure
