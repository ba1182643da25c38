#include "analyse/scopes.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace rubato::analyse {
namespace {

using Sources = std::vector<EnergySource>;
using Place = std::optional<std::size_t>;

bool simulated(const EnergySource& source) {
  return source.facts.kind != Kind::measured && source.facts.kind != Kind::apportioned;
}

// A strip that holds an outlet of its own scope is not the next larger whole of anything else.
bool holds_its_like(const record::RunRecord& run, const Sources& sources, const EnergySource& whole) {
  if (!whole.facts.channel) return false;
  const record::ChannelInfo& own = run.channels[*whole.facts.channel].info;
  return std::ranges::any_of(sources, [&](const EnergySource& s) {
    if (!s.facts.channel || s.facts.scope != whole.facts.scope) return false;
    const record::ChannelInfo& other = run.channels[*s.facts.channel].info;
    return other.meter == own.meter && other.channel.inside == own.channel.name;
  });
}

// The only source of this scope of real (or of simulated) hardware; absent where there is none, or several.
Place only(const record::RunRecord& run, const Sources& sources, Scope scope, bool of_simulated) {
  Place found;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].facts.scope != scope || simulated(sources[i]) != of_simulated) continue;
    if (holds_its_like(run, sources, sources[i])) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

Place same_gpu(const Sources& sources, const EnergySource& part, Scope scope) {
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (sources[i].facts.gpu && sources[i].facts.gpu == part.facts.gpu && sources[i].facts.scope == scope)
      return i;
  return std::nullopt;
}

Place named(const record::RunRecord& run, const Sources& sources, const EnergySource& part) {
  const record::ChannelInfo& own = run.channels[*part.facts.channel].info;
  if (own.channel.inside.empty()) return std::nullopt;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].facts.channel || sources[i].facts.channel == part.facts.channel) continue;
    const record::ChannelInfo& other = run.channels[*sources[i].facts.channel].info;
    if (other.meter == own.meter && other.channel.name == own.channel.inside) return i;
  }
  return std::nullopt;
}

// The next larger whole; what a meter says of its own channels comes first.
Place whole_of(const record::RunRecord& run, const Sources& sources, const EnergySource& part) {
  if (part.facts.channel)
    if (const Place place = named(run, sources, part)) return place;
  const bool sim = simulated(part);
  const auto first_of = [&](std::initializer_list<Scope> scopes) -> Place {
    for (const Scope scope : scopes)
      if (const Place place = only(run, sources, scope, sim)) return place;
    return std::nullopt;
  };
  switch (part.facts.scope) {
    case Scope::memory:
      return same_gpu(sources, part, Scope::gpu);
    case Scope::gpu:
      if (const Place module = same_gpu(sources, part, Scope::module)) return module;
      return first_of({Scope::node});
    case Scope::module:
    case Scope::platform:
      return first_of({Scope::node});
    case Scope::cpu_cores:
    case Scope::cpu_uncore:
      return first_of({Scope::cpu_package});
    case Scope::cpu_package:
    case Scope::dram:
      return first_of({Scope::platform, Scope::node});
    case Scope::node:
    case Scope::rail:
      return std::nullopt;
  }
  return std::nullopt;
}

struct Stretch {
  TimePoint begin;
  TimePoint end;
};

Stretch told_of(const Timeline& timeline, const EnergySource& source) {
  return {std::max(timeline.begin, source.curve.begin()), std::min(timeline.end, source.curve.end())};
}

Joules whole_band(const Figure& f) {
  return f.band_sampling + f.band_calibration;
}

Rest rest_of(const Timeline& timeline, const Sources& sources, std::size_t whole,
             const std::vector<std::size_t>& parts) {
  Rest rest;
  if (sources[whole].curve.empty()) {
    rest.why_not = cat(sources[whole].facts.name, " gave no readings");
    return rest;
  }
  Stretch common = told_of(timeline, sources[whole]);
  for (const std::size_t part : parts) {
    if (sources[part].curve.empty()) {
      rest.why_not = cat(sources[part].facts.name, " gave no readings");
      return rest;
    }
    const Stretch own = told_of(timeline, sources[part]);
    common = {std::max(common.begin, own.begin), std::min(common.end, own.end)};
  }
  const auto all = energy_over(sources[whole], common.begin, common.end);
  if (!all || all->apportioned) {
    rest.why_not = "they were not read together for long enough";
    return rest;
  }
  Joules left = all->energy;
  double squares = std::pow(whole_band(*all).value(), 2);
  for (const std::size_t part : parts) {
    const auto inside = energy_over(sources[part], common.begin, common.end);
    if (!inside) {
      rest.why_not = cat(sources[part].facts.name, " was not read over the same time");
      return rest;
    }
    left -= inside->energy;
    squares += std::pow(whole_band(*inside).value(), 2);
  }
  rest.over = common.end - common.begin;
  rest.band = Joules(std::sqrt(squares));
  if (left < -rest.band)
    rest.why_not =
        cat("the parts measured ", -left, " more than the whole, beyond the bands: the meters disagree");
  else if (left < rest.band)
    rest.why_not = cat("the bands (", rest.band, ") are wider than what is left");
  else
    rest.energy = left;
  return rest;
}

// Without readings: holes the curve has estimated, and what lies beyond its ends.
Seconds unseen_in(const EnergySource& source, const EnergyWindow& whole) {
  if (source.curve.empty()) return whole.duration();
  const TimePoint begin = std::max(whole.begin, source.curve.begin());
  const TimePoint end = std::min(whole.end, source.curve.end());
  if (end <= begin) return whole.duration();
  const auto inside = source.curve.between(begin, end);
  return (inside ? inside->unseen : Seconds(0)) + (whole.duration() - (end - begin));
}

}  // namespace

Scopes scopes_of(const record::RunRecord& run, const Timeline& timeline, const Sources& sources) {
  Scopes scopes;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    ScopeRow row{
        .source = i, .inside = whole_of(run, sources, sources[i]), .energy = {}, .over = {}, .rest = {}};
    // Where the record has the run's energy, that one is better: the sampler knew the sensor.
    if (const auto& whole = sources[i].facts.whole) {
      row.energy = figure_of(
          sources[i], {whole->energy, whole->band_sampling, unseen_in(sources[i], *whole), whole->duration()},
          false);
      row.energy->band_calibration = whole->band_calibration;
      row.over = whole->duration();
    } else if (!sources[i].curve.empty()) {
      const Stretch own = told_of(timeline, sources[i]);
      row.energy = energy_over(sources[i], own.begin, own.end);
      row.over = std::max(Seconds(0), own.end - own.begin);
    }
    scopes.rows.push_back(std::move(row));
  }
  // A garbled `inside` may go in circles; a circle has no outside, so it is cut.
  for (ScopeRow& row : scopes.rows) {
    Place at = row.inside;
    for (std::size_t steps = 0; at && steps <= sources.size(); ++steps) {
      if (*at == row.source) row.inside.reset();
      at = *at == row.source ? std::nullopt : scopes.rows[*at].inside;
    }
  }
  for (ScopeRow& row : scopes.rows) {
    std::vector<std::size_t> parts;
    for (const ScopeRow& other : scopes.rows)
      if (other.inside == row.source) parts.push_back(other.source);
    if (!parts.empty()) row.rest = rest_of(timeline, sources, row.source, parts);
  }
  const auto nodes = std::ranges::count_if(scopes.rows, [&](const ScopeRow& r) {
    return sources[r.source].facts.scope == Scope::node && !r.inside;
  });
  if (nodes > 1)
    scopes.notes.push_back(cat(nodes,
                               " meters read at the wall: whether they tell of one machine twice or of its "
                               "parts is not known, so nothing is put inside them"));
  scopes.host = host_watts_of(run, sources, scopes.rows);
  scopes.idle = idle_shares_of(run, timeline, sources);
  return scopes;
}

}  // namespace rubato::analyse
