// The half of a session that listens: what each GPU's sensors say, what is learnt about them, and what is
// said when they fall silent or cannot be believed.
#include <algorithm>

#include "base/text.h"
#include "conduct/session.h"

namespace rubato::conduct {
namespace {

// What rubato missed around its own pause belongs to the pause, up to this many sensor periods on either
// side.
constexpr double kAround = 3.0;

template <class T>
bool any(const std::optional<T>& value) {
  return value.has_value();
}

}  // namespace

void Session::open_sensor(GpuUnit& unit) {
  unit.sensor = unit.gpu->sensor();
  unit.found_sensor = {.gpu = unit.id(), .driver_version = parts_.driver_version};
  if (parts_.writer) {
    const auto folder = record::sensor_folder_beside(parts_.writer->directory());
    if (auto known = record::load_sensor_facts(folder, unit.id(), parts_.driver_version)) {
      unit.found_sensor = std::move(*known);
      unit.sensor = record::with_found(unit.sensor, unit.found_sensor);
    } else if (known.error().code == ErrorCode::corrupt) {
      warn(known.error());
    }
  }
  unit.finder.emplace(unit.sensor);
  unit.meter = std::make_unique<measure::EnergyMeter>(unit.sensor, unit.gpu->kind(), unit.name());
  unit.meter->pin(begin_);
}

void Session::record_device(const GpuUnit& unit) {
  put(&record::Writer::device, record::DeviceInfo{unit.gpu->identity(), unit.gpu->kind(), parts_.backend,
                                                  parts_.driver_version, unit.sensor, unit.found});
}

void Session::on_fast(std::size_t gpu, const FastReading& reading) {
  GpuUnit& unit = units_[gpu];
  follow_sensor(gpu, reading);
  if (reading.power) unit.latest_power = reading.power;
  unit.meter->now_is(reading.at, unit.gpu->kind());
  if (const auto step = unit.meter->add(reading)) judge_counter(unit, reading, *step);
  follow_other_scopes(unit, reading);
  if (meters_ && reading.power) meters_->gpu_power(gpu, reading.at, *reading.power);
  watch_->fast(gpu, reading);
  unit.shifts.fast(reading);
  if (unit.counters) unit.counters->see(reading);
  if (!parts_.writer) return;
  name_series(unit, reading);
  parts_.writer->sample(unit.id(), reading);
}

void Session::follow_sensor(std::size_t gpu, const FastReading& reading) {
  measure::SensorFinder& finder = *units_[gpu].finder;
  finder.add(reading);
  sampler_.hurry(gpu, finder.wanted_pace());
  if (const auto news = finder.take_news()) learn(gpu, *news);
}

void Session::learn(std::size_t gpu, const measure::SensorFindings& findings) {
  GpuUnit& unit = units_[gpu];
  record::FoundSensor& found = unit.found_sensor;
  if (findings.update_period) found.update_period = findings.update_period;
  if (findings.averaging_window) found.averaging_window = findings.averaging_window;
  if (findings.counter_period) found.counter_period = findings.counter_period;
  found.how = findings.how;
  found.samples = findings.samples;
  if (parts_.writer) found.found_on = parts_.writer->run().started_at.substr(0, 10);
  unit.sensor = record::with_found(unit.gpu->sensor(), found);
  for (auto* meter : {unit.meter.get(), unit.module_meter.get(), unit.memory_meter.get()})
    if (meter != nullptr) meter->learn(unit.sensor);
  sampler_.set_period(gpu, unit.meter->update_period());
  unit.blocks->set_sensor_period(unit.meter->update_period());
  record_device(unit);
  if (!parts_.writer) return;
  const DiskWork work(at_the_disk_);
  // Not to be had (a read-only home) is no loss but of a second's burst in the next run.
  static_cast<void>(
      record::save_sensor_facts(record::sensor_folder_beside(parts_.writer->directory()), found));
}

void Session::follow_other_scopes(GpuUnit& unit, const FastReading& r) {
  const auto feed = [&](std::unique_ptr<measure::EnergyMeter>& meter, Scope scope,
                        const std::optional<Watts>& power, const std::optional<Joules>& counter) {
    if (!power && !counter) return;
    if (!meter) {
      meter = std::make_unique<measure::EnergyMeter>(unit.sensor, unit.gpu->kind(), unit.name(), scope);
      meter->pin(begin_);
    }
    meter->add(FastReading{.at = r.at, .power = power, .energy_counter = counter});
  };
  feed(unit.module_meter, Scope::module, r.module_power, r.module_energy_counter);
  feed(unit.memory_meter, Scope::memory, r.memory_power, std::nullopt);
}

std::vector<EnergyWindow> Session::other_scopes(const GpuUnit& unit, TimePoint now) const {
  std::vector<EnergyWindow> windows;
  for (const auto* meter : {unit.module_meter.get(), unit.memory_meter.get()}) {
    if (meter == nullptr) continue;
    if (auto window = meter->window(begin_, now)) windows.push_back(std::move(*window));
  }
  return windows;
}

// The columns of the samples, each with its scope, when it is first seen.
void Session::name_series(GpuUnit& unit, const FastReading& r) const {
  const auto name = [&](bool seen, std::string_view series, std::string_view unit_of, Scope scope,
                        std::string_view what) {
    if (!seen || std::find(unit.series.begin(), unit.series.end(), series) != unit.series.end()) return;
    unit.series.push_back(series);
    parts_.writer->source(unit.id(), Source{std::string(series), std::string(unit_of), scope,
                                            unit.gpu->kind(), std::string(what)});
  };
  name(any(r.power), "power", "W", Scope::gpu, unit.sensor.source);
  name(any(r.energy_counter), "energy_counter", "J", Scope::gpu, "the driver's own, as read");
  name(any(r.power_average), "power_average", "W", Scope::gpu, "the driver's own mean");
  name(any(r.module_power), "module_power", "W", Scope::module, "GPU, CPU and memory of a superchip");
  name(any(r.module_energy_counter), "module_energy_counter", "J", Scope::module,
       "the driver's own, as read");
  name(any(r.memory_power), "memory_power", "W", Scope::memory, "part of the GPU's");
}

void Session::judge_counter(GpuUnit& unit, const FastReading& reading, const measure::CounterStep& step) {
  const auto* jump = std::get_if<measure::CounterJump>(&step);
  const auto* stood = std::get_if<measure::CounterStood>(&step);
  const bool reset = std::holds_alternative<measure::CounterReset>(step);
  if (!unit.counter_seen || reset || jump != nullptr || stood != nullptr) {
    put(&record::Writer::counter_edge,
        record::CounterEdge{reading.at, unit.id(), *reading.energy_counter, reset});
    unit.counter_seen = true;
  }
  if (reset) driver_restarted(unit, reading.at);
  if ((jump == nullptr && stood == nullptr) || std::exchange(unit.counter_doubted, true)) return;
  std::string what;
  if (stood != nullptr)
    what = cat("stood still for ", stood->still, " under power");
  else if (jump->by < Joules(0))
    what = cat("fell by ", -jump->by, " without beginning anew");
  else
    what = cat("leapt by ", jump->by, ", which no board can draw");
  const Error error{ErrorCode::corrupt,
                    cat(unit.name(), ": its energy counter ", what, "; power is integrated there instead"),
                    {}};
  note("counter_doubted", error.what, reading.at, unit.in_force);
  warn(error);
}

void Session::driver_restarted(GpuUnit& unit, TimePoint now) {
  const Error error{ErrorCode::conflict,
                    cat(unit.name(),
                        ": somebody else reset this GPU or reloaded its driver in mid-run (its energy "
                        "counter began again)"),
                    "what was measured is kept; settings are what the restart left, and stay so"};
  note("driver_restarted", error.what, now, unit.in_force);
  if (!unit.leased) {
    if (!std::exchange(restart_told_, true)) warn(error);
    return;
  }
  record::SettingChange change{.at = now, .gpu = unit.id(), .who = "someone else"};
  if (const auto limits = unit.gpu->power_limits()) {
    change.requested.power_limit = limits->requested;
    change.enforced = limits->enforced;
  }
  change.outcome = "GPU reset or driver reloaded: rubato's setting is gone";
  flush_change(unit);
  put(&record::Writer::setting_change, change);
  unit.changed_by_someone_else = true;
  explain_change(unit, now);
  spoil_blocks(unit, now);
  unit.blocks->enter(BlockRole::warmup, {}, now);
  unit.is_as_found();
  // Under a budget the others keep their limits to the end: raised, they would break it for certain.
  if (!parts_.power_budget) put_all_back(now, &unit);
  if (!std::exchange(restart_told_, true)) stand_back(error, now);
}

void Session::on_silence(std::size_t gpu, TimePoint begin, const Error& why) {
  GpuUnit& unit = units_[gpu];
  const TimePoint now = last_step_.value_or(begin);
  const bool lost = why.code == ErrorCode::device_lost;
  const Error error{why.code,
                    cat(unit.name(), lost ? ": is lost: " : ": does not answer: ", why.what,
                        "; what was measured until now is kept"),
                    why.hint};
  note(lost ? "gpu_lost" : "gpu_silent", error.what, now, unit.in_force);
  unit.lost = unit.lost || lost;
  if (!lost || !unit.leased || stand_back_) return warn(error);
  spoil_blocks(unit, now);
  // Its limit cannot be read any more, so it goes on counting; the others go on.
  if (parts_.power_budget) return warn(error);
  put_all_back(now, &unit);
  stand_back(error, now);
}

void Session::on_gap(std::size_t gpu, TimePoint begin, TimePoint end, const std::string& why) {
  GpuUnit& unit = units_[gpu];
  // The pause is in the record for all GPUs: the same silence must not be counted for each of them again.
  const Seconds around = kAround * unit.meter->update_period();
  const bool in_pause =
      pause_end_ > pause_begin_ && begin >= pause_begin_ - around && end <= pause_end_ + around;
  if (in_pause) return;
  put(&record::Writer::gap, record::Gap{begin, end, unit.id(), why});
  unit.gap_told = true;
}

}  // namespace rubato::conduct
