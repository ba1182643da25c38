#include "progress/arbiter/telemetry_rate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/text.h"
#include "progress/stats.h"

namespace rubato::progress {
namespace {

constexpr double kShortestSeconds = 5;
constexpr std::size_t kFewestPoints = 10;
constexpr std::size_t kBatches = 10;
constexpr double kStudent9 = 2.262;  // 97.5 % of Student's t with kBatches - 1 degrees of freedom

// Judgements, not measurements: how often busy time follows progress is a question of the program.
constexpr double kAgreeing = 0.4;
constexpr double kUtilisationAlone = 0.3;
constexpr double kPowerAlone = 0.2;
constexpr double kSaturatedOrDisputed = 0.1;
constexpr double kInstructions = 0.7;

// A judgement too: a job that never falls below half of what it draws at most may never have been idle.
constexpr double kWidestFloor = 0.5;

/// One stretch that ends at a point and is described by it: what NVML tells is a mean over time past.
struct Held {
  double seconds = 0;
  double value = 0;
};

double mean_of(const std::vector<Held>& series) {
  double sum = 0;
  double time = 0;
  for (const Held& h : series) {
    sum += h.seconds * h.value;
    time += h.seconds;
  }
  return time > 0 ? sum / time : 0;
}

double quantile(std::vector<double> values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(std::lround(share * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

/// Nothing is known of a gap: no point speaks for more than five usual spacings.
void hold_no_longer(std::vector<Held>& series) {
  if (series.empty()) return;
  std::vector<double> spacing;
  spacing.reserve(series.size());
  for (const Held& h : series) spacing.push_back(h.seconds);
  const double longest = 5 * quantile(spacing, 0.5);
  for (Held& h : series) h.seconds = std::min(h.seconds, longest);
}

struct Columns {
  TimePoint begin;
  TimePoint end;
  std::vector<Held> utilisation;
  std::vector<Held> power;
  std::vector<double> clock;
};

Columns columns_of(std::span<const TelemetryPoint> points) {
  Columns c;
  std::optional<TimePoint> last;
  std::optional<TimePoint> last_utilisation;
  std::optional<TimePoint> last_power;
  for (const TelemetryPoint& p : points) {
    if (last && p.at <= *last) continue;
    if (!last) c.begin = p.at;
    last = p.at;
    c.end = p.at;
    if (p.sm_utilisation && *p.sm_utilisation >= 0 && *p.sm_utilisation <= 1) {
      if (last_utilisation) c.utilisation.push_back({(p.at - *last_utilisation).value(), *p.sm_utilisation});
      last_utilisation = p.at;
    }
    if (p.power && std::isfinite(p.power->value()) && p.power->value() >= 0) {
      if (last_power) c.power.push_back({(p.at - *last_power).value(), p.power->value()});
      last_power = p.at;
    }
    if (p.sm_clock && std::isfinite(p.sm_clock->value())) c.clock.push_back(p.sm_clock->value());
  }
  hold_no_longer(c.utilisation);
  hold_no_longer(c.power);
  return c;
}

/// Power turned into the share of full work; empty where idle and full work cannot be told apart.
std::vector<Held> work_from_power(const std::vector<Held>& power) {
  if (power.size() < kFewestPoints) return {};
  std::vector<double> watts;
  watts.reserve(power.size());
  for (const Held& h : power) watts.push_back(h.value);
  const double idle = quantile(watts, 0.02);
  const double full = quantile(watts, 0.95);
  if (full <= 0 || idle > kWidestFloor * full) return {};
  std::vector<Held> work = power;
  for (Held& h : work) h.value = std::clamp((h.value - idle) / (full - idle), 0.0, 1.0);
  return work;
}

std::optional<double> half_width(const std::vector<Held>& series) {
  std::vector<double> values;
  values.reserve(series.size());
  for (const Held& h : series) values.push_back(h.value);
  const auto batches = batch_means(values, kBatches);
  if (!batches || !batches->standard_error || batches->batches < kBatches || batches->mean <= 0)
    return std::nullopt;
  return kStudent9 * *batches->standard_error / batches->mean;
}

}  // namespace

std::optional<ProgressRate> telemetry_rate(std::span<const TelemetryPoint> points) {
  const Columns c = columns_of(points);
  if ((c.end - c.begin).value() < kShortestSeconds) return std::nullopt;
  const std::vector<Held> from_power = work_from_power(c.power);
  const bool utilised = c.utilisation.size() + 1 >= kFewestPoints;
  if (!utilised && from_power.empty()) return std::nullopt;

  const std::vector<Held>& series = utilised ? c.utilisation : from_power;
  ProgressRate rate;
  rate.begin = c.begin;
  rate.end = c.end;
  rate.kind = RateKind::busy_time;
  rate.per_second = mean_of(series);
  rate.half_width = half_width(series);
  if (!utilised) {
    rate.confidence = kPowerAlone;
    rate.why = "energy above idle over that of full work; utilisation was not read";
  } else if (rate.per_second > 0.97) {
    rate.confidence = kSaturatedOrDisputed;
    rate.why = "some kernel ran all the time: this shows that the job works, not how fast";
  } else if (from_power.empty()) {
    rate.confidence = kUtilisationAlone;
    rate.why = "share of time in which a kernel ran";
  } else if (std::abs(mean_of(from_power) - rate.per_second) <= 0.1) {
    rate.confidence = kAgreeing;
    rate.why = "share of time in which a kernel ran; the energy above idle says the same";
  } else {
    rate.confidence = kSaturatedOrDisputed;
    rate.why = cat("share of time in which a kernel ran; the energy above idle says ",
                   number(mean_of(from_power), 2), " instead");
  }
  if (!c.clock.empty() && quantile(c.clock, 0.95) > 1.05 * quantile(c.clock, 0.05)) {
    rate.confidence /= 2;
    rate.why += "; the clock changed meanwhile, and busy time does not show what that did";
  }
  return rate;
}

std::optional<ProgressRate> counter_rate(const FeatureVector& window) {
  const auto instructions = window[Feature::instructions_per_second];
  if (!instructions || !std::isfinite(*instructions) || *instructions < 0) return std::nullopt;
  if (window.end <= window.begin) return std::nullopt;
  ProgressRate rate;
  rate.begin = window.begin;
  rate.end = window.end;
  rate.kind = RateKind::instructions;
  rate.per_second = *instructions;
  rate.confidence = kInstructions;
  rate.why = "instructions executed; the same work as long as the kernels are the same";
  return rate;
}

}  // namespace rubato::progress
