#include "analyse/parts.h"

#include <algorithm>

#include "analyse/iteration_energy.h"
#include "analyse/partition.h"
#include "analyse/parts_sum.h"

namespace rubato::analyse {
namespace {

SpanEnergy span_energy(const Span& span, const std::vector<Iteration>& iterations,
                       const std::vector<EnergySource>& sources) {
  SpanEnergy out{.span = span, .iterations = 0, .iteration_time = {}, .energy = {}};
  const auto first = std::ranges::lower_bound(iterations, span.begin, {}, &Iteration::begin);
  const auto last = std::ranges::lower_bound(first, iterations.end(), span.end, {}, &Iteration::begin);
  out.iterations = last - first;
  Seconds together;
  for (auto i = first; i != last; ++i) together += i->duration();
  if (out.iterations > 0) out.iteration_time = together / static_cast<double>(out.iterations);
  for (const EnergySource& source : sources) out.energy.push_back(energy_over(source, span.begin, span.end));
  return out;
}

std::vector<PhaseEnergy> phases_of(const Timeline& timeline, const std::vector<EnergySource>& sources) {
  std::vector<PhaseEnergy> rows;
  for (const Span& span : timeline.phases) {
    auto row = std::ranges::find(rows, span.id, &PhaseEnergy::id);
    if (row == rows.end()) {
      row = rows.insert(rows.end(), {.id = span.id, .name = span.name, .times = 0, .time = {}, .energy = {}});
      if (phase_has_energy(span.id)) row->energy.resize(sources.size());
    }
    ++row->times;
    row->time += span.duration();
    for (std::size_t s = 0; s < row->energy.size(); ++s)
      if (const auto part = energy_over(sources[s], span.begin, span.end))
        add(part->apportioned ? row->energy[s].apportioned : row->energy[s].measured, *part);
  }
  return rows;
}

}  // namespace

Parts parts_of(const record::RunRecord& run, const Timeline& timeline,
               const std::vector<EnergySource>& sources) {
  Parts parts;
  const std::vector<Iteration> iterations = sound_iterations(run, timeline);
  const std::vector<Piece> pieces = partition_of(iterations, timeline);
  for (const EnergySource& source : sources) parts.sources.push_back(source.facts);
  for (const Span& epoch : timeline.epochs) parts.epochs.push_back(span_energy(epoch, iterations, sources));
  for (const Span& window : timeline.windows)
    parts.windows.push_back(span_energy(window, iterations, sources));
  parts.phases = phases_of(timeline, sources);
  parts.iterations = iteration_summary(iterations, pieces, sources);
  parts.rows = rows_of(pieces, sources.size());
  for (std::size_t s = 0; s < sources.size(); ++s)
    parts.balance.push_back(balance_of(pieces, timeline, sources[s], s, parts.rows));
  return parts;
}

}  // namespace rubato::analyse
