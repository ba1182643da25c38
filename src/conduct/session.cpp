#include "conduct/session.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "conduct/cost.h"

namespace rubato::conduct {
namespace {

// Listing processes is one of the slow driver calls (milliseconds on some drivers), so it is not made often.
constexpr Seconds kOwnershipPeriodWaiting{1.0};
constexpr Seconds kOwnershipPeriodSettled{5.0};
constexpr Seconds kTogether{0.1};
// A clock needs tens of milliseconds to arrive and a limit about a second (the limiter's own average); what
// was reached is read no sooner.
constexpr Seconds kSettling{1.5};

Setting setting_of(const PowerLimits& limits) {
  return Setting{.power_limit = limits.requested};
}

std::vector<device::Gpu*> readers(const std::vector<std::unique_ptr<device::Gpu>>& gpus) {
  std::vector<device::Gpu*> readers;
  readers.reserve(gpus.size());
  for (const auto& gpu : gpus) readers.push_back(gpu.get());
  return readers;
}

}  // namespace

Session::Session(SessionParts parts, TimePoint begin)
    : parts_(std::move(parts)),
      begin_(begin),
      sampler_(readers(parts_.gpus), *this, begin),
      next_ownership_(begin),
      next_marks_(begin),
      next_meters_(begin),
      next_decision_(begin),
      next_state_(begin),
      tally_(begin),
      tallied_until_(begin),
      expectations_(begin) {}

void Session::make_units() {
  for (auto& gpu : parts_.gpus) {
    GpuUnit unit;
    unit.restoration.gpu = gpu->identity().id;
    unit.gpu = std::move(gpu);
    open_sensor(unit);
    units_.push_back(std::move(unit));
  }
  std::vector<WatchedGpu> watched;
  for (const auto& unit : units_)
    watched.push_back({unit.id(), {unit.sensor.update_period, unit.sensor.averaging_window}});
  watch_.emplace(std::move(watched));
  for (std::size_t i = 0; i < units_.size(); ++i) {
    GpuUnit& unit = units_[i];
    if (!parts_.counters.empty()) unit.counters = std::make_unique<CounterWatch>(*unit.gpu, parts_.counters);
    sampler_.set_period(i, unit.meter->update_period());
    if (parts_.power_budget) unit.tally = std::make_unique<BoardTally>(begin_);
    unit.blocks = std::make_unique<BlockKeeper>(
        begin_, unit.meter->update_period(),
        [&unit](const FinishedBlock& block) { unit.finished.push_back(block); });
  }
}

void Session::open() {
  if (std::exchange(open_, true)) return;
  {
    const DiskWork work(at_the_disk_);
    if (parts_.open_record) parts_.writer = parts_.open_record();
    make_units();
  }
  for (auto& unit : units_) {
    if (const auto limits = unit.gpu->power_limits()) unit.found = *limits;
    if (const auto clocks = unit.gpu->supported_clocks(); clocks && !clocks->sm.empty())
      unit.highest_sm_clock = clocks->sm.back();
    record_device(unit);
  }
  if (parts_.goal)
    put(&record::Writer::goal,
        record::GoalInForce{begin_, std::string(parts_.strategy->name()), *parts_.goal});
  if (!parts_.channels.empty() && parts_.meter_news)
    meters_.emplace(std::move(parts_.channels), begin_, parts_.writer.get(), parts_.warn);
}

void Session::warn(const Error& error) const {
  if (parts_.warn) parts_.warn(error);
}

// Waking up costs more than anything done then, so what is not a sensor's tick waits a little for the next
// one.
TimePoint Session::next_due() const {
  TimePoint due = std::min({next_decision_, next_ownership_, next_marks_});
  if (meters_) due = std::min(due, next_meters_);
  for (const auto& unit : units_)
    if (unit.counters) due = std::min(due, unit.counters->next_due().value_or(due));
  if (parts_.writer) due = std::min(due, parts_.writer->next_due());
  due = std::min(sampler_.next_due(), due + kTogether);
  if (parts_.plan) due = std::min(due, parts_.plan->next_due().value_or(due));
  if (parts_.beside) due = std::min(due, parts_.beside->next_due());
  return due;
}

void Session::step(TimePoint now) {
  open();
  static_cast<void>(notice_death_of_guard(now));
  notice_pause(now);
  sampler_.step(now);
  if (now >= next_meters_) follow_meters(now);
  if (parts_.beside && now >= parts_.beside->next_due()) next_marks_ = std::min(next_marks_, now);
  const bool progressed = now >= next_marks_ && follow_iterations(now);
  if (counters_due(now)) watch_counters(now);
  if (forecast_due_ && now >= *forecast_due_) {
    forecast_due_.reset();
    parts_.forecast_ready(parts_.writer->file());
  }
  if (now >= next_ownership_) watch_ownership(now);
  follow_plan(now);
  const bool asked_beside = look_beside(now);
  if (progressed || asked_beside || now >= next_decision_) decide(now);
  for (auto& unit : units_) unit.blocks->tick(now);
  settle_blocks(now, false);
  tell_state(now);
  if (parts_.writer) {
    const DiskWork work(at_the_disk_);
    if (const auto written = parts_.writer->step(now); !written) warn(written.error());
  }
}

bool Session::look_beside(TimePoint now) {
  if (!parts_.beside) return false;
  const auto marked = tracker_.last_end();
  return parts_.beside->step(now, {.completed = tracker_.completed() + watch_->given_out(),
                                   .last_end = marked ? marked : watch_->last_end(),
                                   .by_marks = marked && watch_->given_out() == 0});
}

bool Session::counters_due(TimePoint now) const {
  return std::any_of(units_.begin(), units_.end(), [now](const GpuUnit& unit) {
    return unit.counters && unit.counters->next_due().value_or(now + kTogether) <= now;
  });
}

void Session::watch_ownership(TimePoint now) {
  bool settled = true;
  for (auto& unit : units_) {
    const auto processes = unit.gpu->compute_processes();
    if (!processes || !parts_.ownership) {
      unit.blind = true;
      if (!processes) unit.ownership = {Ownership::Verdict::unknown, processes.error().what};
      continue;
    }
    Ownership seen = parts_.ownership(*processes);
    if (unit.tally) unit.tally->computed_by(*processes);
    // A process that ended between the driver's list and our look is not another namespace: look twice.
    unit.unknown_in_a_row = seen.verdict == Ownership::Verdict::unknown ? unit.unknown_in_a_row + 1 : 0;
    if (unit.unknown_in_a_row == 1) {
      settled = false;
      continue;
    }
    unit.looked = true;
    unit.job_seen = unit.job_seen || seen.job_here;
    unit.blind = unit.blind || seen.verdict == Ownership::Verdict::unknown;
    unit.ownership = std::move(seen);
    settled = settled && unit.ownership.verdict != Ownership::Verdict::none;
  }
  next_ownership_ = now + (settled ? kOwnershipPeriodSettled : kOwnershipPeriodWaiting);
}

std::optional<bool> Session::used_by_job(const GpuUnit& unit) const {
  if (unit.job_seen) return true;
  const bool elsewhere =
      std::any_of(units_.begin(), units_.end(), [](const GpuUnit& u) { return u.job_seen; });
  if (unit.looked && !unit.blind && elsewhere) return false;
  return std::nullopt;
}

void Session::on_slow(std::size_t gpu, const SlowReading& reading) {
  GpuUnit& unit = units_[gpu];
  unit.state = reading;
  watch_->slow(gpu, reading);
  unit.shifts.slow(reading);
  if (unit.counters) unit.counters->see(reading);
  if (parts_.writer) parts_.writer->sample(unit.id(), reading);
  if (unit.change && reading.at - unit.change->at >= kSettling) {
    unit.change->reached_sm_clock = reading.sm_clock;
    flush_change(unit);
  }
  watch_limit(unit, reading);
}

void Session::flush_change(GpuUnit& unit) {
  if (unit.change) put(&record::Writer::setting_change, *unit.change);
  unit.change.reset();
}

// A block is told once the sensor has spoken after its end.
void Session::settle_blocks(TimePoint now, bool last) {
  for (auto& unit : units_) {
    const Seconds wait = 2.0 * unit.meter->update_period();
    while (!unit.finished.empty()) {
      const FinishedBlock block = unit.finished.front();
      // What we set must be seen in force after the block, too.
      const bool confirmed = !unit.leased || (unit.state && unit.state->at >= block.end);
      if (!last && (!confirmed || now - block.end < wait)) break;
      unit.finished.pop_front();
      record::Block row{block.role, unit.id(),        block.setting, block.begin,
                        block.end,  block.iterations, std::nullopt};
      if (auto energy = unit.meter->window(block.begin, block.end)) row.energy = *energy;
      put(&record::Writer::block, row);
      if (used_by_job(unit).value_or(true)) tell_so_far(row);
    }
    if (!unit.finished.empty()) continue;
    const TimePoint needed = std::min(unit.blocks->begin().value_or(now), now) - wait;
    for (auto* meter : {unit.meter.get(), unit.module_meter.get(), unit.memory_meter.get()})
      if (meter != nullptr) meter->forget(needed);
  }
}

void Session::finish(TimePoint now, const JobEnd& end) {
  open();
  // The run's last edge: without it the window would end at the tick before.
  for (std::size_t i = 0; i < units_.size(); ++i)
    if (const auto reading = units_[i].gpu->read_fast()) on_fast(i, *reading);
  sampler_.finish(now);
  follow_iterations(now, true);
  tell_plan_at_the_end(now);
  follow_meters(now);
  for (auto& unit : units_) {
    if (const auto word = unit.counters ? unit.counters->last_word() : std::nullopt)
      note("no_counters", word->what, now, unit.in_force);
    unit.blocks->finish(now);
    flush_change(unit);
  }
  settle_blocks(now, true);
  close_lease(now);

  const DiskWork work(at_the_disk_);
  record::RunEnd row;
  row.end = now;
  row.exit_code = end.exit_code;
  row.exit_signal = end.exit_signal;
  CallCost driver;
  for (auto& unit : units_) {
    record::DeviceEnd device;
    device.gpu = unit.id();
    if (auto energy = unit.meter->window(begin_, now)) {
      device.energy = *energy;
      if (parts_.writer) parts_.writer->source(unit.id(), energy->source);
    } else if (!unit.gap_told) {
      put(&record::Writer::gap, record::Gap{begin_, now, unit.id(), energy.error().what});
    }
    device.other_scopes = other_scopes(unit, now);
    device.used_by_job = used_by_job(unit);
    if (unit.found) device.found = setting_of(*unit.found);
    if (device.found) device.found->sm_clock = parts_.found_sm_clock;
    device.requested = unit.last_requested;
    device.restoration = unit.restoration.outcome;
    device.restoration_detail = unit.restoration.detail;
    row.devices.push_back(std::move(device));
    const CallCost cost = unit.gpu->cost();
    driver.calls += cost.calls;
    driver.inside += cost.inside;
  }
  if (meters_) row.channels = meters_->finish(now);
  row.cost = own_cost(driver, sampler_.ticks(), parts_.writer ? parts_.writer->bytes_written() : 0);
  if (parts_.writer) record_file_ = parts_.writer->finish(row);
}

}  // namespace rubato::conduct
