#include "sensor_truth/sensor.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rubato::truth {
namespace {

// A board under constant load shows some tenths of a watt of noise, in milliwatts.
constexpr double kNoise = 0.001;
constexpr double kGrain = 1e-3;

double rounded(double value) {
  return std::round(value / kGrain) * kGrain;
}

}  // namespace

double Response::operator()(double power_w) const {
  const double wave = wave_w * std::sin(2 * std::numbers::pi * power_w / wave_length_w + wave_phase);
  return std::max(0.0, gain * power_w + offset_w + wave);
}

Response draw_response(const Board& board, double gain, double offset_w, Random& random) {
  Response response{gain, offset_w, 0, 0, 0};
  // Points spread evenly from idle to the highest power have this standard deviation; 1 - r2 of their
  // variance is not the line's. A sine's standard deviation is its height over the square root of 2.
  const double spread = gain * (board.highest_w - board.idle_w) / std::sqrt(12.0);
  response.wave_w = std::sqrt(2.0 * std::max(0.0, 1 - board.r2)) * spread;
  response.wave_length_w = (board.highest_w - board.idle_w) * random.uniform(0.4, 1.0);
  response.wave_phase = random.uniform(0, 2 * std::numbers::pi);
  return response;
}

Energy::Energy(const Load& load, const Response& response) {
  double sum = 0;
  for (const Stretch& stretch : load.stretches) {
    if (!begin_.empty()) sum += power_.back() * (stretch.begin_s - begin_.back());
    begin_.push_back(stretch.begin_s);
    power_.push_back(response(stretch.power_w));
    sum_.push_back(sum);
  }
}

std::size_t Energy::index(double t) const {
  // Nearly all questions come in order of time.
  if (hint_ < begin_.size() && begin_[hint_] <= t) {
    while (hint_ + 1 < begin_.size() && begin_[hint_ + 1] <= t) ++hint_;
    return hint_;
  }
  const auto after = std::upper_bound(begin_.begin(), begin_.end(), t);
  hint_ = after == begin_.begin() ? 0 : static_cast<std::size_t>(after - begin_.begin()) - 1;
  return hint_;
}

double Energy::joules(double t) const {
  const std::size_t i = index(t);
  return sum_[i] + power_[i] * (t - begin_[i]);
}

double Energy::lagged(double level, double from, double to, double lag_s) const {
  while (from < to) {
    const std::size_t i = index(from);
    const double next = i + 1 < begin_.size() ? std::min(to, begin_[i + 1]) : to;
    level += (power_[i] - level) * -std::expm1(-(next - from) / lag_s);
    from = next;
  }
  return level;
}

std::vector<FastReading> read_all(const Board& board, Counter counter, const Energy& sensed,
                                  const Reader& reader, Random& random) {
  std::vector<FastReading> readings;
  const double first = sensed.joules(0, 0.5) / 0.5;
  double shown = first;
  double level = first;
  double lag_at = 0;
  double refresh = board.period_s * random.uniform();
  double seen_j = 0;  // by a counter that adds up what the sensor sees
  double counted = 0;
  double count_at = reader.counter_period_s * random.uniform();
  const auto refresh_at = [&](double t) {
    const double end = std::max(0.0, t - board.delay_s);
    double mean = 0;
    if (board.lag_s > 0) {
      level = sensed.lagged(level, lag_at, end, board.lag_s);
      lag_at = end;
      mean = level;
    } else {
      const double begin = std::max(0.0, end - board.window_s);
      mean = end > begin ? sensed.joules(begin, end) / (end - begin) : first;
    }
    shown = std::max(0.0, rounded(mean * (1 + kNoise * random.normal())));
    seen_j += mean * board.period_s;
  };
  // The counter and the refresh are told in order of time: what it adds up must not run ahead of it.
  const auto pass = [&](double until) {
    while (std::min(refresh, count_at) <= until) {
      if (refresh <= count_at) {
        refresh_at(refresh);
        refresh += board.period_s;
      } else {
        counted =
            counter == Counter::sees_all ? sensed.joules(std::max(0.0, count_at - board.delay_s)) : seen_j;
        count_at += reader.counter_period_s;
      }
    }
  };
  // The last tick may or may not be made. NOLINTNEXTLINE(clang-analyzer-security.FloatLoopCounter)
  for (double tick = 0; tick <= reader.until_s; tick += reader.period_s) {
    if (random.uniform() < 0.002) continue;
    const double late =
        random.uniform() < 0.01 ? 0.01 * random.uniform() : -3e-4 * std::log(1 - random.uniform());
    const double now = std::min(tick + late, reader.until_s);
    pass(now);
    FastReading reading;
    reading.at = TimePoint{} + Seconds(now);
    reading.power = Watts(shown);
    if (counter != Counter::none) reading.energy_counter = Joules(100 + std::floor(counted * 1e3) / 1e3);
    readings.push_back(reading);
  }
  return readings;
}

}  // namespace rubato::truth
