#include "experiment/latency/study.h"

#include <algorithm>

#include "base/text.h"
#include "experiment/latency/summary.h"

namespace rubato::experiment {
namespace {

// Where nobody knows the power sensor: the slowest that was found on NVIDIA's boards (Yang, Adamek, Armour,
// arXiv 2312.02741: 100 ms, averaged over up to 1 s).
constexpr Seconds kUnknownPeriod{0.1};
constexpr Seconds kUnknownWindow{1};
constexpr Seconds kSlowestPowerReading{0.02};
constexpr double kReadingsPerPeriod = 5;
constexpr double kPeriodsOfTail = 3;  // over which a level is taken
// A change is measured once more where the reading that found it, or the answer of a simulated GPU's driver,
// came so many times later than usual. How long the change took has no say in it: else outliers would be kept
// and others thrown away.
constexpr double kLate = 3;
// So often for each change that was asked for; then the finest of what came late has to do.
constexpr unsigned kMostAgain = 3;
// A pair is left out after as many losses in a row and no success.
constexpr unsigned kMostLost = 2;

Seconds period_of(const StudyPlan& plan) {
  return plan.power_period.value_or(kUnknownPeriod);
}
Seconds tail_of(const StudyPlan& plan) {
  return period_of(plan) * kPeriodsOfTail;
}
Seconds power_gap_of(const StudyPlan& plan) {
  return std::clamp(period_of(plan) / kReadingsPerPeriod, plan.gap, std::max(plan.gap, kSlowestPowerReading));
}

/// The GPU does not take this setting, and is otherwise well.
bool refused(const Error& error) {
  return error.code == ErrorCode::invalid_argument || error.code == ErrorCode::not_supported;
}

std::string in_words(const LimiterReasons& reasons) {
  std::string out;
  const auto add = [&out](bool holds, std::string_view word) {
    if (holds) out += cat(out.empty() ? "" : ", ", word);
  };
  add(reasons.idle, "no load");
  add(reasons.power_cap, "the power limit");
  add(reasons.thermal, "heat");
  add(reasons.hardware, "a hardware slowdown");
  add(reasons.other, "something else");
  return out;
}

std::string in_words(const predict::Clocks& clocks) {
  return cat("SM ", clocks.sm, ", memory ", clocks.memory);
}

/// What is not read out is not told of.
std::string in_words(const ClockReading& reading) {
  std::string out;
  if (reading.sm) out = cat("SM ", *reading.sm);
  if (reading.memory) out += cat(out.empty() ? "" : ", ", "memory ", *reading.memory);
  return out;
}

}  // namespace

Seconds settling_of(const StudyPlan& plan) {
  return period_of(plan) +
         plan.power_window.value_or(plan.power_period ? *plan.power_period : kUnknownWindow);
}

Seconds length_of_change(const StudyPlan& plan) {
  return (settling_of(plan) + tail_of(plan)) * 2 + period_of(plan) / 2;
}

LatencyStudy::LatencyStudy(StudyPlan plan, Random random)
    : plan_(std::move(plan)),
      random_(random),
      again_(plan_.pairs.size(), 0),
      lost_row_(plan_.pairs.size(), 0) {
  for (std::size_t pair = 0; pair < plan_.pairs.size(); ++pair)
    left_.insert(left_.end(), plan_.repeats, pair);
  // In an order that nothing which drifts can follow.
  for (std::size_t i = left_.size(); i > 1; --i) std::swap(left_[i - 1], left_[random_.index(i)]);
}

Setting LatencyStudy::setting_to(const predict::Clocks& clocks, bool only_changes) const {
  Setting out;
  if (plan_.sm_clock && !(only_changes && pair().from.sm == clocks.sm))
    out.sm_clock = ClockRange{clocks.sm, clocks.sm};
  if (plan_.memory_clock && !(only_changes && pair().from.memory == clocks.memory))
    out.memory_clock = ClockRange{clocks.memory, clocks.memory};
  return out;
}

Status LatencyStudy::step(TimePoint now, LatencyBench& gpu) {
  if (done()) return {};
  next_due_ = now + plan_.gap;
  switch (phase_) {
    case Phase::begin:
      return begin(now, gpu);
    case Phase::approach:
      return approach(now, gpu);
    case Phase::settle:
      return settle(now, gpu);
    case Phase::follow:
      return follow(now, gpu);
  }
  return {};
}

Status LatencyStudy::begin(TimePoint now, LatencyBench& gpu) {
  change_ = {};
  change_.pair = left_.front();
  tolerance_ = tolerance_of(pair(), plan_.sm_step);
  before_.clear();
  after_.clear();
  last_.reset();
  last_move_.reset();
  came_late_ = false;
  const auto asked = gpu.ask(setting_to(pair().from, false));
  if (!asked && !refused(asked.error())) return fail(asked.error());
  if (!asked) {
    lose(asked.error().what);
    return {};
  }
  phase_ = Phase::approach;
  since_ = now;
  return {};
}

Status LatencyStudy::approach(TimePoint now, LatencyBench& gpu) {
  const auto reading = gpu.clocks();
  if (!reading) return fail(reading.error());
  if (!at_start(pair(), tolerance_, *reading))
    return now - since_ > plan_.patience ? give_up(*reading, pair().from, gpu) : Status();
  phase_ = Phase::settle;
  // A random share of the sensor's period: no request may keep step with it.
  since_ = now + period_of(plan_) * random_.uniform();
  power_due_ = now;
  return {};
}

Status LatencyStudy::read_power(TimePoint now, LatencyBench& gpu, std::vector<PowerReading>& into) {
  if (now < power_due_) return {};
  power_due_ = now + power_gap_of(plan_);
  const auto reading = gpu.power();
  if (!reading) return fail(reading.error());
  if (reading->power) into.push_back({reading->at, *reading->power});
  return {};
}

Status LatencyStudy::settle(TimePoint now, LatencyBench& gpu) {
  if (now - since_ > settling_of(plan_))
    if (Status read = read_power(now, gpu, before_); !read) return read;
  next_due_ = now + power_gap_of(plan_);
  if (now - since_ < settling_of(plan_) + tail_of(plan_)) return {};
  const auto reading = gpu.clocks();
  if (!reading) return fail(reading.error());
  if (!at_start(pair(), tolerance_, *reading)) return give_up(*reading, pair().from, gpu);
  last_ = *reading;
  const auto asked = gpu.ask(setting_to(pair().to, true));
  if (!asked && !refused(asked.error())) return fail(asked.error());
  if (!asked) {
    lose(asked.error().what);
    return {};
  }
  phase_ = Phase::follow;
  since_ = asked->at;
  note_call(*asked);
  power_due_ = now;
  next_due_ = now;
  return {};
}

void LatencyStudy::note_call(const AskedFor& asked) {
  const Seconds took = asked.answered - asked.at;
  const Seconds usual = std::max(plan_.gap, median_gap(calls_));
  held_up_ = plan_.calls_take_no_time && took > usual * kLate ? took : Seconds(0);
  calls_.push_back(took.value());
}

void LatencyStudy::note_gap(const ClockReading& reading) {
  // Between the last look and the request nobody wanted to look.
  if (last_->at >= since_) gaps_.push_back((reading.at - last_->at).value());
  const bool moved = reading.sm != last_->sm || reading.memory != last_->memory;
  if (!moved) return;
  if (last_move_) {
    const Seconds between = reading.at - *last_move_;
    readout_period_ = std::min(readout_period_.value_or(between), between);
  }
  last_move_ = reading.at;
}

void LatencyStudy::arrive(const ClockReading& reading) {
  const TimePoint earliest = std::max(last_->at, since_);
  const Seconds between = reading.at - earliest;
  change_.known_to = (between + held_up_) / 2;
  change_.clock = earliest - since_ + between / 2;
  const Seconds usual = std::max(plan_.gap, median_gap(gaps_));
  came_late_ = held_up_ > Seconds(0) || between > usual * kLate;
}

Status LatencyStudy::follow(TimePoint now, LatencyBench& gpu) {
  if (!change_.clock) {
    const auto reading = gpu.clocks();
    if (!reading) return fail(reading.error());
    // A reading may be of a moment before the request, where drivers say when they read.
    if (reading->at > since_) {
      note_gap(*reading);
      if (reached(pair(), tolerance_, *reading)) arrive(*reading);
      if (!change_.clock && now - since_ > plan_.patience) return give_up(*reading, pair().to, gpu);
      last_ = *reading;
    }
  }
  if (Status read = read_power(now, gpu, after_); !read) return read;
  if (!change_.clock) return {};
  next_due_ = power_due_;
  if (now - since_ < *change_.clock + settling_of(plan_) + tail_of(plan_)) return {};
  change_.power = power_delay(before_, since_, after_, tail_of(plan_));
  finish();
  return {};
}

Status LatencyStudy::give_up(const ClockReading& last, const predict::Clocks& wanted, LatencyBench& gpu) {
  const auto state = gpu.state();
  if (!state) return fail(state.error());
  const std::string held = state->limiter ? in_words(*state->limiter) : std::string();
  lose(cat("never at ", in_words(wanted), ": at ", in_words(last), " after ", plan_.patience,
           held.empty() ? "" : cat(", held by ", held)));
  return {};
}

void LatencyStudy::lose(std::string why) {
  change_.clock.reset();
  change_.why_not = std::move(why);
  changes_.push_back(change_);
  const std::size_t lost = left_.front();
  ++lost_row_[lost];
  next();
  const bool ever = std::any_of(changes_.begin(), changes_.end(),
                                [&](const TimedChange& c) { return c.pair == lost && c.clock; });
  if (lost_row_[lost] >= kMostLost && !ever) std::erase(left_, lost);
}

void LatencyStudy::finish() {
  const std::size_t done = left_.front();
  lost_row_[done] = 0;
  if (came_late_) late_.push_back(change_);
  if (came_late_ && again_[done] < plan_.repeats * kMostAgain) {
    ++again_[done];
    left_.push_back(done);
  } else {
    changes_.push_back(came_late_ ? finest_late() : change_);
  }
  next();
}

TimedChange LatencyStudy::finest_late() {
  auto finest = std::prev(late_.end());  // the latest, of this pair
  for (auto it = late_.begin(); it != late_.end(); ++it)
    if (it->pair == left_.front() && it->known_to < finest->known_to) finest = it;
  const TimedChange out = *finest;
  late_.erase(finest);
  return out;
}

void LatencyStudy::next() {
  left_.pop_front();
  phase_ = Phase::begin;
}

Result<LatencyTable> LatencyStudy::table() const {
  LatencyTable out;
  out.repeats = plan_.repeats;
  std::vector<double> around;
  for (const TimedChange& change : changes_)
    if (change.clock) around.push_back(change.known_to.value() * 2);
  out.polling_gap = median_gap(around);
  out.readout_period = readout_period_;
  out.power_period = plan_.power_period;
  return summarise(plan_.pairs, changes_, std::move(out));
}

}  // namespace rubato::experiment
