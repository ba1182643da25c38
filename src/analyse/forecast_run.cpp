#include <algorithm>

#include "analyse/forecast.h"
#include "analyse/partition.h"
#include "analyse/sources.h"
#include "analyse/timeline.h"
#include "base/text.h"

namespace rubato::analyse {
namespace {

using Sources = std::vector<EnergySource>;

// All GPUs together; absent where one of them tells nothing.
std::optional<Figure> gpus_over(const Sources& sources, TimePoint begin, TimePoint end) {
  std::optional<Figure> sum;
  for (const EnergySource& source : sources) {
    if (source.facts.scope != Scope::gpu || !source.facts.gpu) continue;
    const auto part = energy_over(source, begin, end);
    if (!part) return std::nullopt;
    add(sum, *part);
  }
  return sum;
}

Error unknown_energy() {
  return {ErrorCode::unavailable, "a GPU's energy is not known for every epoch, so there is no forecast",
          "rubato doctor"};
}

void add_late_half(EpochCost& cost, const Span& epoch, const std::vector<Iteration>& iterations,
                   const Sources& sources) {
  const auto first = std::ranges::lower_bound(iterations, epoch.begin, {}, &Iteration::begin);
  const auto last = std::ranges::lower_bound(first, iterations.end(), epoch.end, {}, &Iteration::begin);
  const auto n = last - first;
  if (n < 4) return;
  const auto middle = first + n / 2;
  const auto count = static_cast<double>(last - middle);
  const TimePoint end = (last - 1)->end;
  cost.late_seconds = (end - middle->begin).value() / count;
  const auto energy = gpus_over(sources, middle->begin, end);
  if (energy && !energy->apportioned) cost.late_joules = energy->energy.value() / count;
}

}  // namespace

Result<Forecast> forecast_of(const record::RunRecord& run, const Factors& factors) {
  const Timeline timeline = timeline_of(run);
  const Sources sources = sources_of(run);
  const std::vector<Iteration> iterations = sound_iterations(run, timeline);
  const TimePoint from = timeline.trainings.empty() ? timeline.begin : timeline.trainings.back().begin;
  std::vector<EpochCost> epochs;
  Kind kind = Kind::measured;
  bool apportioned = false;
  TimePoint until = timeline.begin;
  for (const Span& epoch : timeline.epochs) {
    if (epoch.cut_short || epoch.begin < from) continue;
    const auto energy = gpus_over(sources, epoch.begin, epoch.end);
    if (!energy) return fail(unknown_energy());
    EpochCost cost{.seconds = epoch.duration().value(), .joules = energy->energy.value()};
    add_late_half(cost, epoch, iterations, sources);
    if (!epochs.empty() && epoch.begin > until) {
      // As a difference of long stretches: what lies between may be too short to be measured.
      const auto whole = gpus_over(sources, until, epoch.end);
      if (!whole) return fail(unknown_energy());
      cost.seconds_before = (epoch.begin - until).value();
      cost.joules_before = std::max(0.0, whole->energy.value() - cost.joules);
    }
    epochs.push_back(cost);
    kind = std::max(kind, energy->kind);
    apportioned = apportioned || energy->apportioned;
    until = epoch.end;
  }
  TimePoint begin = timeline.begin;
  for (const EnergySource& source : sources)
    if (source.facts.gpu && !source.curve.empty()) begin = std::max(begin, source.curve.begin());
  const auto so_far = gpus_over(sources, begin, until);
  auto forecast = forecast_of(epochs, so_far ? timeline.planned_epochs : std::nullopt,
                              (until - timeline.begin).value(), so_far ? so_far->energy.value() : 0.0);
  if (!forecast) return forecast;
  forecast->kind = kind;
  forecast->apportioned = apportioned;
  if (factors.price && forecast->total_joules) {
    const auto money = [&](double joules) { return *footprint_of(Joules(joules), factors).cost; };
    Outlook cost = *forecast->total_joules;
    cost.value = money(cost.value);
    if (cost.interval) cost.interval = Interval{money(cost.interval->low), money(cost.interval->high)};
    forecast->total_cost = cost;
  }
  return forecast;
}

}  // namespace rubato::analyse
