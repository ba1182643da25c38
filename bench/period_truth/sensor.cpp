#include "period_truth/sensor.h"

#include <algorithm>
#include <cmath>

#include "period_truth/draw.h"

namespace rubato::period_truth {
namespace {

/// NVML's utilisation: the share of the last full window in which a kernel ran, in whole percent.
class Utilisation {
 public:
  Utilisation(const std::vector<float>& column, double window_s, double offset_s)
      : sum_(column), window_s_(window_s), offset_s_(offset_s) {}
  [[nodiscard]] double at(double t) const {
    const double end = std::floor((t - offset_s_) / window_s_) * window_s_ + offset_s_;
    return std::clamp(std::round(100 * sum_.mean(end - window_s_, end)), 0.0, 100.0) / 100;
  }

 private:
  RunningSum sum_;
  double window_s_;
  double offset_s_;
};

/// The clock follows what was set; near its limit the board takes some steps off.
class Clocks {
 public:
  Clocks(const Board& board, const Waveform& wave) : board_(board), wave_(wave), power_(wave.power_w) {}
  [[nodiscard]] double at(double t) const {
    const auto bin = std::min(static_cast<std::size_t>(t / Waveform::kBin), wave_.speed.size() - 1);
    const double drawn = power_.mean(t - 0.1, t);
    const double over = std::clamp((drawn / board_.limit_w - 0.93) / 0.07, 0.0, 2.0);
    const double mhz = board_.highest_mhz * static_cast<double>(wave_.speed[bin]) * (1 - 0.03 * over);
    return std::floor(std::floor(mhz / board_.mhz_step) * board_.mhz_step);
  }

 private:
  const Board& board_;
  const Waveform& wave_;
  RunningSum power_;
};

}  // namespace

Sensor draw_sensor(SensorKind kind, Random& random) {
  Sensor sensor;
  sensor.kind = kind;
  sensor.nominal_s = kind == SensorKind::instant ? 0.02 : 0.1;
  if (kind == SensorKind::part_time) sensor.window_s = 0.025;
  if (kind == SensorKind::full_time) sensor.window_s = 0.1;
  if (kind == SensorKind::long_mean) sensor.window_s = 1;
  if (kind == SensorKind::lagging) {
    sensor.nominal_s = chance(random, 0.5) ? 0.02 : 0.1;
    sensor.lag_s = log_uniform(random, 0.03, 0.4);
  }
  sensor.update_s = sensor.nominal_s * (1 + 3e-4 * random.normal());
  sensor.noise_w = log_uniform(random, 0.5, 5);
  sensor.grain_w = chance(random, 0.3) ? 1 : 0.001;
  return sensor;
}

std::vector<Tick> draw_ticks(const Sensor& sensor, const Waveform& wave, Random& random) {
  std::vector<Tick> ticks;
  const RunningSum sum(wave.power_w);
  double level = sum.mean(0, 0.5);
  double from = 0;
  double due = sensor.update_s * random.uniform();
  while (due < wave.end_s()) {
    const double at = due + 0.005 * sensor.update_s * random.uniform();
    double clean = 0;
    if (sensor.window_s > 0) {
      clean = sum.mean(at - sensor.window_s, at);
    } else if (sensor.lag_s > 0) {
      for (; from + Waveform::kBin <= at; from += Waveform::kBin)
        level +=
            (sum.mean(from, from + Waveform::kBin) - level) * -std::expm1(-Waveform::kBin / sensor.lag_s);
      clean = level;
    } else {
      clean = sum.mean(at - Waveform::kBin, at);
    }
    ticks.push_back({at, clean});
    due += sensor.update_s;
  }
  return ticks;
}

Reader draw_reader(double length_s, Random& random) {
  Reader reader;
  reader.interval_s = log_uniform(random, 0.02, length_s > 200 ? 0.1 : 0.06);
  if (length_s > 200) reader.interval_s = std::max(reader.interval_s, 0.05);
  reader.late_s = log_uniform(random, 0.0002, 0.004);
  reader.very_late = log_uniform(random, 0.0002, 0.003);
  reader.dropped = random.uniform(0, 0.01);
  reader.slow_columns = chance(random, 0.3) ? between(random, 2, 6) : 1;
  reader.has_utilisation = !chance(random, 0.2);
  reader.has_memory = reader.has_utilisation && !chance(random, 0.2);
  reader.has_clock = !chance(random, 0.25);
  return reader;
}

std::vector<progress::TelemetryPoint> read_all(const Sensor& sensor, const std::vector<Tick>& ticks,
                                               const Reader& reader, const Board& board, const Waveform& wave,
                                               Random& random) {
  std::vector<progress::TelemetryPoint> points;
  const double window = chance(random, 0.5) ? 1.0 / 6 : 1;
  const double offset = window * random.uniform();
  const Utilisation sm(wave.busy, window, offset);
  const Utilisation memory(wave.memory, window, offset);
  const Clocks clocks(board, wave);
  double shown = 0;
  std::size_t next = 0;
  int count = 0;
  double free_at = 0;
  double due = reader.interval_s;
  // The last reading may or may not be made. NOLINTNEXTLINE(clang-analyzer-security.FloatLoopCounter)
  for (; due < wave.end_s(); due += reader.interval_s) {
    if (chance(random, reader.dropped)) continue;
    double at = std::max(due, free_at) + exponential(random, reader.late_s);
    if (chance(random, reader.very_late)) at += random.uniform(0.2, 2);
    if (due < free_at) continue;  // the reader hangs in an earlier call
    if (at >= wave.end_s()) break;
    free_at = at;
    for (; next < ticks.size() && ticks[next].at_s <= at; ++next) {
      const double noisy = std::max(0.0, ticks[next].clean_w + sensor.noise_w * random.normal());
      shown = std::round(noisy / sensor.grain_w) * sensor.grain_w;
    }
    if (next == 0) continue;
    progress::TelemetryPoint point;
    point.at = TimePoint{} + Seconds(at);
    point.power = Watts(shown);
    if (count++ % reader.slow_columns == 0) {
      if (reader.has_utilisation) point.sm_utilisation = sm.at(at);
      if (reader.has_memory) point.memory_utilisation = memory.at(at);
      if (reader.has_clock) point.sm_clock = Megahertz(clocks.at(at));
    }
    points.push_back(point);
  }
  return points;
}

}  // namespace rubato::period_truth
