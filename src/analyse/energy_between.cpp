#include "analyse/energy_between.h"

#include <algorithm>

namespace rubato::analyse {
namespace {

using Samples = std::vector<FastReading>;

// The value of a line through two readings at `t`.
double on_line(TimePoint t, TimePoint t0, double v0, TimePoint t1, double v1) {
  if (t1 <= t0) return v0;
  return v0 + (v1 - v0) * ((t - t0) / (t1 - t0));
}

// The two readings around `t`; at the ends of the series the outermost two.
std::optional<Samples::const_iterator> segment(const Samples& samples, TimePoint t, Seconds reach) {
  if (samples.size() < 2) return std::nullopt;
  auto after = std::ranges::lower_bound(samples, t, {}, &FastReading::at);
  after = std::clamp(after, samples.begin() + 1, samples.end() - 1);
  const auto before = after - 1;
  if (before->at - t > reach || t - after->at > reach) return std::nullopt;
  return before;
}

std::optional<double> counter_at(const Samples& samples, TimePoint t, Seconds reach) {
  const auto at = segment(samples, t, reach);
  if (!at) return std::nullopt;
  const auto& a = **at;
  const auto& b = *(*at + 1);
  if (!a.energy_counter || !b.energy_counter || *b.energy_counter < *a.energy_counter) return std::nullopt;
  return on_line(t, a.at, a.energy_counter->value(), b.at, b.energy_counter->value());
}

std::optional<double> power_at(const Samples& samples, TimePoint t, Seconds reach) {
  const auto at = segment(samples, t, reach);
  if (!at) return std::nullopt;
  const auto& a = **at;
  const auto& b = *(*at + 1);
  if (!a.power || !b.power) return std::nullopt;
  return on_line(std::clamp(t, a.at, b.at), a.at, a.power->value(), b.at, b.power->value());
}

std::optional<Joules> from_power(const Samples& samples, TimePoint begin, TimePoint end, Seconds reach) {
  const auto first = power_at(samples, begin, reach);
  const auto last = power_at(samples, end, reach);
  if (!first || !last) return std::nullopt;
  double joules = 0.0;
  TimePoint at = begin;
  double power = *first;
  const auto join = [&](TimePoint t, double p) {
    joules += 0.5 * (power + p) * (t - at).value();
    at = t;
    power = p;
  };
  for (auto s = std::ranges::upper_bound(samples, begin, {}, &FastReading::at);
       s != samples.end() && s->at < end; ++s)
    if (s->power) join(s->at, s->power->value());
  join(end, *last);
  return Joules(joules);
}

}  // namespace

std::optional<Joules> energy_between(const Samples& samples, TimePoint begin, TimePoint end, Seconds reach) {
  const auto first = counter_at(samples, begin, reach);
  const auto last = counter_at(samples, end, reach);
  if (first && last && *last >= *first) return Joules(*last - *first);
  return from_power(samples, begin, end, reach);
}

}  // namespace rubato::analyse
