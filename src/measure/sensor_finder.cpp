#include "measure/sensor_finder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "measure/averaging_window.h"

namespace rubato::measure {
namespace {

constexpr Seconds kBurstPace{0.005};
constexpr Seconds kBurstLength{1.0};
constexpr unsigned kMostBursts = 3;
constexpr Seconds kBetweenBursts{5.0};
// A burst is judged when it may have become decidable, not at every read.
constexpr std::size_t kJudgeEvery = 20;
// Most sensors since Maxwell update at 100 ms (arXiv 2312.02741).
constexpr Seconds kUsualPeriod{0.1};
constexpr std::size_t kTicksHeld = 512;
constexpr std::size_t kTicksBetweenJudgements = 192;
constexpr std::size_t kFewestChanges = 16;
constexpr std::size_t kLatest = 16;
constexpr unsigned kMostWindowTrials = 12;
// What is found closer to what was known than this is the same.
constexpr double kSame = 0.1;
constexpr double kSameWindow = 0.3;
constexpr double kSameTwice = 0.08;

double in_thousandths(double value) {
  return std::round(value * 1e3);
}

bool alike(Seconds a, Seconds b, double within) {
  return abs(a - b) <= within * b;
}

}  // namespace

SensorFinder::SensorFinder(const SensorFacts& known)
    : known_period_(known.update_period),
      known_window_(known.averaging_window),
      known_counter_period_(known.counter_period) {
  ticks_.reserve(kTicksHeld);
}

bool SensorFinder::counter_wanted() const {
  return has_counter_ && !known_counter_period_ && !found_.counter_period;
}

bool SensorFinder::power_wanted() const {
  return !found_.update_period && !confirmed_ && (!known_period_ || doubted_);
}

std::optional<Seconds> SensorFinder::wanted_pace() const {
  return in_burst_ ? std::optional(kBurstPace) : std::nullopt;
}

std::optional<SensorFindings> SensorFinder::take_news() {
  if (!std::exchange(news_, false)) return std::nullopt;
  return found_;
}

void SensorFinder::discovered(std::optional<Seconds>& fact, Seconds value, const std::string& how) {
  fact = value;
  found_.how += cat(found_.how.empty() ? "" : "; ", how);
  news_ = true;
}

void SensorFinder::add(const FastReading& reading) {
  if (!reading.power && !reading.energy_counter) return;
  ++found_.samples;
  has_counter_ = has_counter_ || reading.energy_counter.has_value();
  if (in_burst_) {
    if (reading.power) power_.push_back({reading.at, in_thousandths(reading.power->value())});
    if (reading.energy_counter)
      counter_.push_back({reading.at, in_thousandths(reading.energy_counter->value())});
    const bool over = reading.at - burst_begin_ >= kBurstLength;
    if (over || power_.size() % kJudgeEvery == 0) judge_burst(reading.at);
    if (over || !(counter_wanted() || power_wanted())) in_burst_ = false;
    return;
  }
  if (!ticks_.empty() && reading.at <= ticks_.back().at) return;
  if (ticks_.size() == kTicksHeld) ticks_.erase(ticks_.begin(), ticks_.begin() + kTicksHeld / 4);
  ticks_.push_back(reading);
  if (bursts_ == 0 && (counter_wanted() || power_wanted())) return begin_burst(reading.at);
  if (++since_judged_ >= kTicksBetweenJudgements) {
    since_judged_ = 0;
    judge_ticks();
    judge_window();
  }
  const bool may_burst = bursts_ < kMostBursts && reading.at - burst_begin_ >= kBetweenBursts;
  if ((power_wanted() || counter_wanted()) && may_burst && telling()) begin_burst(reading.at);
}

bool SensorFinder::telling() const {
  std::vector<SeenValue> latest;
  for (std::size_t i = ticks_.size() - std::min(ticks_.size(), kLatest); i < ticks_.size(); ++i)
    if (ticks_[i].power) latest.push_back({ticks_[i].at, in_thousandths(ticks_[i].power->value())});
  return every_refresh_shows(latest);
}

void SensorFinder::begin_burst(TimePoint now) {
  ++bursts_;
  in_burst_ = true;
  burst_begin_ = now;
  power_.clear();
  counter_.clear();
}

void SensorFinder::judge_burst(TimePoint now) {
  const auto seen_in = [&](const UpdatePeriod& p) {
    return cat(" from ", p.changes, " changes in ", now - burst_begin_);
  };
  if (counter_wanted())
    if (const auto period = find_update_period(counter_))
      discovered(found_.counter_period, period->period, cat("counter period", seen_in(*period)));
  if (!power_wanted()) return;
  const auto period = find_update_period(power_);
  if (!period) return;
  confirmed_ = known_period_ && alike(period->period, *known_period_, kSame);
  if (!confirmed_) discovered(found_.update_period, period->period, cat("update period", seen_in(*period)));
}

bool SensorFinder::too_slow_for_its_tick() const {
  std::vector<SeenValue> values;
  std::size_t changes = 0;
  std::size_t in_a_row = 0;
  bool changed_before = false;
  for (const FastReading& tick : ticks_) {
    if (!tick.power) continue;
    const double value = in_thousandths(tick.power->value());
    const bool changed = !values.empty() && value != values.back().value;
    changes += changed ? 1 : 0;
    in_a_row += changed && changed_before ? 1 : 0;
    changed_before = changed;
    values.push_back({tick.at, value});
  }
  return changes >= kFewestChanges && in_a_row * 50 <= changes && every_refresh_shows(values);
}

void SensorFinder::judge_ticks() {
  if (found_.update_period || confirmed_) return;
  const bool slow = too_slow_for_its_tick();
  doubted_ = doubted_ || (known_period_ && slow);
  if (!slow) return;
  std::vector<SeenValue> values;
  for (const FastReading& tick : ticks_)
    if (tick.power) values.push_back({tick.at, in_thousandths(tick.power->value())});
  if (const auto period = find_update_period(values))
    discovered(found_.update_period, period->period,
               cat("update period from ", period->changes, " changes at the usual pace"));
}

void SensorFinder::judge_window() {
  if (found_.averaging_window || window_trials_ >= kMostWindowTrials || !has_counter_) return;
  const Seconds period = found_.update_period.value_or(known_period_.value_or(kUsualPeriod));
  const Seconds counter = found_.counter_period.value_or(known_counter_period_.value_or(kUsualPeriod));
  const WindowTrial trial = find_averaging_window(ticks_, period, counter);
  if (trial.decidable) ++window_trials_;
  if (!trial.window) return;
  // One stretch of the job may deceive; a later one must say the same.
  const auto before = std::exchange(window_seen_, trial.window);
  if (!before || !alike(*before, *trial.window, kSameTwice)) return;
  if (known_window_ && alike(*trial.window, *known_window_, kSameWindow)) return;
  discovered(found_.averaging_window, *trial.window,
             "averaging window from how the readings follow the energy counter");
}

}  // namespace rubato::measure
