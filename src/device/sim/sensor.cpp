#include "device/sim/sensor.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace rubato::device::sim {
namespace {

std::int64_t nanoseconds(Seconds s) {
  return std::llround(s.value() * 1e9);
}

// A window longer than the period is a mean of whole periods; a shorter one is the period's last part.
std::int64_t sampled_ns(const PowerField& field) {
  return nanoseconds(std::min(field.window, field.period));
}

std::uint32_t periods_averaged(const PowerField& field) {
  const double periods = field.window / field.period;
  return static_cast<std::uint32_t>(std::clamp(std::lround(periods), 1L, static_cast<long>(kMostAverage)));
}

// What a board makes of the mean of its last period, or of several.
double shown_after(FieldState& field, const PowerField& facts, double mean) {
  if (facts.lag) return field.shown_w + (mean - field.shown_w) * -std::expm1(-(facts.period / *facts.lag));
  field.means_w[field.next] = mean;
  const std::uint32_t length = periods_averaged(facts);
  field.next = (field.next + 1) % length;
  field.filled = std::min(field.filled + 1, length);
  double sum = 0.0;
  for (std::uint32_t i = 0; i < field.filled; ++i) sum += field.means_w[i];
  return sum / field.filled;
}

void finish_period(FieldState& field, const PowerField& facts, const SensorState& sensor) {
  const double mean = field.window_j / (static_cast<double>(sampled_ns(facts)) * 1e-9);
  const double shown = shown_after(field, facts, std::max(0.0, sensor.gain * mean + sensor.offset_w));
  if (field.edge_ns >= sensor.stale_until_ns) {
    field.shown_w = shown;
    field.updated_ns = field.edge_ns;
  }
  field.window_j = 0.0;
  field.edge_ns += nanoseconds(facts.period);
}

void sense_field(FieldState& field, const PowerField& facts, const SensorState& sensor, std::int64_t from,
                 std::int64_t to, Watts power) {
  if (from >= field.edge_ns - sampled_ns(facts))
    field.window_j += power.value() * static_cast<double>(to - from) * 1e-9;
  if (to >= field.edge_ns) finish_period(field, facts, sensor);
}

std::int64_t field_edge(const FieldState& field, const PowerField& facts, std::int64_t now) {
  const std::int64_t window = field.edge_ns - sampled_ns(facts);
  return window > now ? window : field.edge_ns;
}

// The first edge of this period after `now`, keeping its phase.
std::int64_t edge_after(std::int64_t edge, std::int64_t period, std::int64_t now) {
  return edge > now ? edge : edge + ((now - edge) / period + 1) * period;
}

// As after a long idle time: the window that runs now has seen its part of it.
void start_field(FieldState& field, const PowerField& facts, const SensorState& sensor, std::int64_t now,
                 std::int64_t edge, Watts idle) {
  field = {};
  field.edge_ns = edge;
  const std::int64_t seen = now - (edge - sampled_ns(facts));
  field.window_j = idle.value() * static_cast<double>(std::max<std::int64_t>(0, seen)) * 1e-9;
  field.shown_w = std::max(0.0, sensor.gain * idle.value() + sensor.offset_w);
  field.updated_ns = now;
}

double sensed_module(const SensorState& sensor, const Profile& profile, std::int64_t now_ns) {
  const double others = profile.module_others.value_or(Watts(0)).value();
  return sensor.counter_j + others * static_cast<double>(now_ns - sensor.loaded_ns) * 1e-9;
}

}  // namespace

void start_sensor(SensorState& sensor, const Profile& profile, const Start& start, const Activity& idle) {
  Random random = Random(start.seed).fork(start.index);
  const std::int64_t now = start.now.ns;
  const auto edge = [&](Seconds period) {
    return now + 1 + static_cast<std::int64_t>(random.uniform() * period.value() * 1e9);
  };
  sensor = {};
  sensor.gain =
      profile.sensor_gain * (1.0 + profile.sensor_gain_spread * std::clamp(random.normal(), -2.0, 2.0));
  sensor.offset_w = profile.sensor_offset.value();
  sensor.loaded_ns = now;
  start_field(sensor.instant, profile.instant, sensor, now, edge(profile.instant.period), idle.power);
  const std::int64_t average_edge = edge(profile.average.period);
  // One figure under two names is refreshed once.
  start_field(sensor.average, profile.average, sensor, now,
              profile.average == profile.instant ? sensor.instant.edge_ns : average_edge, idle.power);
  start_field(sensor.memory, profile.instant, sensor, now, sensor.instant.edge_ns, idle.memory);
  sensor.counter_edge_ns = edge(profile.counter_period);
  sensor.utilisation_edge_ns = now + kUtilisationNs;
}

std::int64_t next_sensor_edge(const SensorState& sensor, const Profile& profile, std::int64_t now_ns) {
  return std::min({field_edge(sensor.instant, profile.instant, now_ns),
                   field_edge(sensor.average, profile.average, now_ns), sensor.counter_edge_ns,
                   sensor.utilisation_edge_ns});
}

void sense(SensorState& sensor, const Profile& profile, std::int64_t from_ns, std::int64_t to_ns,
           const Activity& now) {
  const double seconds = static_cast<double>(to_ns - from_ns) * 1e-9;
  sense_field(sensor.instant, profile.instant, sensor, from_ns, to_ns, now.power);
  sense_field(sensor.average, profile.average, sensor, from_ns, to_ns, now.power);
  if (profile.has_memory_power)
    sense_field(sensor.memory, profile.instant, sensor, from_ns, to_ns, now.memory);
  sensor.counter_j += std::max(0.0, sensor.gain * now.power.value() + sensor.offset_w) * seconds;
  if (to_ns >= sensor.counter_edge_ns) {
    if (sensor.counter_edge_ns >= sensor.stale_until_ns) {
      sensor.counter_shown_j = sensor.counter_j;
      sensor.module_shown_j = sensed_module(sensor, profile, to_ns);
    }
    sensor.counter_edge_ns += nanoseconds(profile.counter_period);
  }
  sensor.sm_busy_s += now.sm_busy * seconds;
  sensor.memory_busy_s += now.memory_busy * seconds;
  if (to_ns >= sensor.utilisation_edge_ns) {
    constexpr double kWindow = static_cast<double>(kUtilisationNs) * 1e-9;
    sensor.sm_utilisation = std::min(1.0, sensor.sm_busy_s / kWindow);
    sensor.memory_utilisation = std::min(1.0, sensor.memory_busy_s / kWindow);
    sensor.sm_busy_s = sensor.memory_busy_s = 0.0;
    sensor.utilisation_edge_ns += kUtilisationNs;
  }
}

void sense_skipped(SensorState& sensor, const Profile& profile, std::int64_t from_ns, std::int64_t to_ns,
                   Joules energy) {
  const double seconds = static_cast<double>(to_ns - from_ns) * 1e-9;
  sensor.counter_j += std::max(0.0, sensor.gain * energy.value() + sensor.offset_w * seconds);
  sensor.counter_edge_ns = edge_after(sensor.counter_edge_ns, nanoseconds(profile.counter_period), to_ns);
  sensor.utilisation_edge_ns = edge_after(sensor.utilisation_edge_ns, kUtilisationNs, to_ns);
  sensor.instant.edge_ns = edge_after(sensor.instant.edge_ns, nanoseconds(profile.instant.period), to_ns);
  sensor.average.edge_ns = edge_after(sensor.average.edge_ns, nanoseconds(profile.average.period), to_ns);
  // The period that `to` cuts would come out too low; what it would have shown is replaced within a second
  // anyway.
  sensor.memory.edge_ns = sensor.instant.edge_ns;
  sensor.instant.window_j = sensor.average.window_j = sensor.memory.window_j = 0.0;
  sensor.sm_busy_s = sensor.memory_busy_s = 0.0;
}

void reset_counter(SensorState& sensor, std::int64_t now_ns) {
  sensor.counter_j = sensor.counter_shown_j = sensor.module_shown_j = 0.0;
  sensor.loaded_ns = now_ns;
}

}  // namespace rubato::device::sim
