#include "core/beat.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace rubato {
namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;
// Harmonics above add little: the amplitudes of a two-level step fall with their number.
constexpr int kHarmonics = 24;
// How far a window is from the told one: 9.8 to 11.9 ms for 10 ms (Yang, Adamek, Armour, SC24).
constexpr double kWindowDoubt = 0.1;
// Beyond it a ratio is no rhythm anybody would meet: one look more or less per so many steps.
constexpr unsigned kHighestRatio = 8;

// What a beat may hide: a standard deviation of the power, as a fraction of its mean.
constexpr double kHiddenSpread = 0.3;

// Looks at random moments leave one over the root of their number.
constexpr double kWorseThanChance = 2.0;

// Mean of |(1/N) sum exp(i k angle)|^2 over N looks whose phases also walk at random by `walk` (variance per
// look, in rad^2): a geometric series in z = exp(i angle - walk/2), summed in closed form.
double coherence(double looks, double angle, double walk) {
  if (looks <= 1.0) return 1.0;
  const std::complex<double> z = std::polar(std::exp(-0.5 * walk), angle);
  const std::complex<double> rest = 1.0 - z;
  if (std::abs(rest) * looks < 1e-3) return 1.0;
  const std::complex<double> sum =
      (1.0 + z) / (rest * looks) - 2.0 * z * (1.0 - std::pow(z, looks)) / (rest * rest * looks * looks);
  return std::clamp(sum.real(), 0.0, 1.0);
}

double sinc(double turns) {
  return turns == 0.0 ? 1.0 : std::sin(std::numbers::pi * turns) / (std::numbers::pi * turns);
}

// What a look leaves of harmonic `h`: of a mean over a window, or of what creeps after the power.
double seen(const SensorSight& sensor, const StepTime& step, int h) {
  if (sensor.lag) return 1.0 / std::hypot(1.0, kTurn * h * (*sensor.lag / step.mean));
  const double window =
      h * (1.0 - sensor.unseen()) * (sensor.period / step.mean);  // in turns of the harmonic
  // A window of whole turns would hide the harmonic, but no window is as long as told. By how much that
  // shows, to first order; never more than the lobes of a window that long.
  const double off = kWindowDoubt * (std::cos(std::numbers::pi * window) - sinc(window));
  return std::hypot(sinc(window), std::min(std::abs(off), 1.0 / (std::numbers::pi * window)));
}

// The angle nearest to a whole number of turns that lies within `doubt` turns of `turns`.
double worst_angle(double turns, double doubt) {
  const double off = turns - std::round(turns);
  const double nearer = std::max(0.0, std::abs(off) - doubt);
  return kTurn * nearer;
}

}  // namespace

double beat_bias(const StepTime& step, const SensorSight& sensor, Seconds length, double period_doubt) {
  const bool sees_all = sensor.unseen() <= 0.0 && !sensor.lag;
  if (sees_all || step.mean <= Seconds(0) || length <= Seconds(0)) return 0.0;
  const double turns = sensor.period / step.mean;  // of a step, from look to look
  const double looks = std::max(1.0, length / sensor.period);
  const double spread = step.spread / step.mean;
  double variance = 0.0;
  for (int h = 1; h <= kHarmonics; ++h) {
    // Of two levels at any duty cycle, harmonic h carries 6 / (pi h)^2 of the variance: these add up to 1.
    const double share = 6.0 / std::pow(std::numbers::pi * h, 2) * std::pow(seen(sensor, step, h), 2);
    const double walk = std::pow(kTurn * h * spread, 2) * turns;
    variance += share * coherence(looks, worst_angle(h * turns, h * turns * period_doubt), walk);
  }
  return std::sqrt(variance);
}

Joules beat_sigma(const StepTime& step, const SensorSight& sensor, Seconds length, Watts mean,
                  Watts scatter) {
  // In a perfect beat the readings do not move at all: what they hide then is a guess.
  return beat_bias(step, sensor, length, kPeriodDoubt) * (std::max(kHiddenSpread * mean, scatter) * length);
}

std::optional<Beat> find_beat(const StepTime& step, const SensorSight& sensor, Seconds length,
                              double period_doubt) {
  const double looks = std::max(1.0, length / sensor.period);
  const double bias = beat_bias(step, sensor, length, period_doubt);
  if (bias <= kWorseThanChance / std::sqrt(looks)) return std::nullopt;
  const double ratio = step.mean / sensor.period;
  Beat beat{1, 1, bias};
  double nearest = INFINITY;
  for (unsigned steps = 1; steps <= kHighestRatio; ++steps) {
    const double wanted = std::round(ratio * steps);
    if (wanted < 1.0) continue;
    const double off = std::abs(ratio * steps / wanted - 1.0);
    if (off >= nearest - 1e-9) continue;
    nearest = off;
    beat.looks = static_cast<unsigned>(wanted);
    beat.steps = steps;
  }
  return beat;
}

std::optional<Seconds> length_for(const StepTime& step, const SensorSight& sensor, double bias,
                                  double period_doubt) {
  constexpr Seconds kDay{86400};
  for (Seconds length = sensor.period; length <= kDay; length *= 1.25)
    if (beat_bias(step, sensor, length, period_doubt) <= bias) return length;
  return std::nullopt;
}

}  // namespace rubato
