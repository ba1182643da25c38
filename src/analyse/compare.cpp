#include "analyse/compare.h"

#include <cmath>

#include "analyse/quotient.h"
#include "base/text.h"

namespace rubato::analyse {
namespace {

constexpr const char* kOneRunEach = "one run each says nothing of how runs scatter";

bool excludes_zero(const Interval& interval) {
  return interval.low > 0 || interval.high < 0;
}

// Judged by both: two standard errors, and the interval, which is wider where observations are few.
Difference judged(Difference d, double standard_error) {
  d.distinguishable = std::abs(std::log1p(d.fraction)) >= kDistinguishable * standard_error &&
                      d.fraction != 0 && excludes_zero(*d.interval);
  return d;
}

Metric values(std::optional<double> a, std::optional<double> b) {
  Metric metric{.a = a, .b = b};
  if (!a || !b)
    metric.why_no_difference = cat("not known for ", a ? "B" : b ? "A" : "either");
  else if (*a <= 0 || *b <= 0)
    metric.why_no_difference = cat("it is zero for ", *a <= 0 ? "A" : "B");
  else
    metric.difference = Difference{.fraction = *b / *a - 1, .why_no_interval = kOneRunEach};
  return metric;
}

std::optional<double> joules(const Side& side) {
  if (!side.summary.total) return std::nullopt;
  return side.summary.total->energy.value();
}

struct Bands {
  Joules energy;
  Joules whole;           // half width, everything that does not cancel
  double variance = 0.0;  // relative; a half width of which no more is known has variance a²/3 (JCGM 100)
};

Bands bands(const EnergyWindow& total, bool calibration_cancels) {
  const double energy = total.energy.value();
  const double sampling = total.band_sampling.value();
  const double calibration = calibration_cancels ? 0.0 : total.band_calibration.value();
  return {total.energy, Joules(sampling + calibration),
          (sampling * sampling + calibration * calibration) / 3 / (energy * energy)};
}

// Of energies and mean powers: time is exact beside them.
void add_bands(Metric& metric, const Side& a, const Side& b) {
  if (!metric.difference || !a.summary.total || !b.summary.total) return;
  const bool cancels = same_sensors(a, b);
  const Bands of_a = bands(*a.summary.total, cancels);
  const Bands of_b = bands(*b.summary.total, cancels);
  if (of_a.whole >= of_a.energy || of_b.whole >= of_b.energy) {
    metric.difference->why_no_interval = "the sensor's error band is as large as the energy";
    return;
  }
  const double up_a = of_a.whole / of_a.energy;
  const double up_b = of_b.whole / of_b.energy;
  Difference& d = *metric.difference;
  const double ratio = 1 + d.fraction;
  d.range = Range::sensor_bands;
  d.interval = Interval{ratio * (1 - up_b) / (1 + up_a) - 1, ratio * (1 + up_b) / (1 - up_a) - 1};
  d.why_no_interval.clear();
  d = judged(std::move(d), std::sqrt(of_a.variance + of_b.variance));
}

void whole_runs(Comparison& out, const Side& a, const Side& b) {
  const auto seconds = [](const Side& side) -> std::optional<double> {
    if (!side.summary.duration) return std::nullopt;
    return side.summary.duration->value();
  };
  const auto watts = [](const Side& side) -> std::optional<double> {
    if (!side.summary.total || side.summary.total->duration() <= Seconds(0)) return std::nullopt;
    return side.summary.total->mean_power().value();
  };
  const auto product = [](std::optional<double> x, std::optional<double> y) -> std::optional<double> {
    if (!x || !y) return std::nullopt;
    return *x * *y;
  };
  out.time = values(seconds(a), seconds(b));
  out.energy = values(joules(a), joules(b));
  out.mean_power = values(watts(a), watts(b));
  out.energy_delay = values(product(joules(a), seconds(a)), product(joules(b), seconds(b)));
  for (Metric* metric : {&out.energy, &out.mean_power, &out.energy_delay}) add_bands(*metric, a, b);

  const char* why = nullptr;
  if (!a.run.end || !b.run.end)
    why = "a run that did not end cannot be compared as a whole";
  else if (!a.run.iterations.empty() && !b.run.iterations.empty() &&
           a.run.iterations.size() != b.run.iterations.size())
    why = "the runs did not do the same number of iterations";
  if (why == nullptr) return;
  for (Metric* metric : {&out.time, &out.energy, &out.energy_delay}) {
    if (metric->difference) metric->why_no_difference = why;
    metric->difference.reset();
  }
}

Metric per_iteration(const Mean& a, const Mean& b) {
  Metric metric = values(a.value, b.value);
  if (!metric.difference) return metric;
  Difference& d = *metric.difference;
  const Estimate ratio = quotient({b, "B"}, {a, "A"});
  d.why_no_interval = ratio.why_no_interval;
  if (!ratio.interval) return metric;
  d.range = Range::confidence;
  d.interval = Interval{ratio.interval->low - 1, ratio.interval->high - 1};
  d = judged(std::move(d), *log_error(b, a));
  return metric;
}

void per_iterations(Comparison& out, const Side& a, const Side& b) {
  const SettledCost of_a = settled_cost(a.run);
  const SettledCost of_b = settled_cost(b.run);
  out.settled_a = of_a.setting;
  out.settled_b = of_b.setting;
  const auto one = [&](auto mean) {
    if (of_a.cost && of_b.cost) return per_iteration(mean(*of_a.cost), mean(*of_b.cost));
    Metric metric;
    if (of_a.cost) metric.a = mean(*of_a.cost).value;
    if (of_b.cost) metric.b = mean(*of_b.cost).value;
    metric.why_no_difference = of_a.cost ? cat("in B ", of_b.why_not) : cat("in A ", of_a.why_not);
    return metric;
  };
  out.iteration_time = one([](const CostPerIteration& c) { return c.time; });
  out.iteration_energy = one([](const CostPerIteration& c) { return c.energy; });
  out.iteration_energy_delay = one([](const CostPerIteration& c) { return energy_delay(c, 1); });
  if (same_sensors(a, b)) return;
  // Another sensor's gain is not the same on both sides, and no batch shows it.
  const auto gain = [](const Side& side) {
    const auto& total = side.summary.total;
    return total && total->energy > Joules(0) ? total->band_calibration / total->energy : 0.0;
  };
  const double wider_a = gain(a);
  const double wider_b = gain(b);
  for (Metric* metric : {&out.iteration_energy, &out.iteration_energy_delay}) {
    if (!metric->difference || !metric->difference->interval || wider_a >= 1) continue;
    Difference& d = *metric->difference;
    const Interval narrow = *d.interval;
    d.interval = Interval{(1 + narrow.low) * (1 - wider_b) / (1 + wider_a) - 1,
                          (1 + narrow.high) * (1 + wider_b) / (1 - wider_a) - 1};
    d.distinguishable = *d.distinguishable && excludes_zero(*d.interval);
  }
}

}  // namespace

std::string_view name_of(Range range) {
  switch (range) {
    case Range::none:
      return "none";
    case Range::confidence:
      return "confidence_90";
    case Range::sensor_bands:
      return "sensor_bands";
  }
  return "none";
}

Comparison compare(const Side& a, const Side& b) {
  Comparison out;
  whole_runs(out, a, b);
  per_iterations(out, a, b);
  out.differing = differing_facts(a, b);
  out.warnings = warnings_of(a, b);
  return out;
}

}  // namespace rubato::analyse
