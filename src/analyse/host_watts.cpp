#include <algorithm>
#include <cmath>
#include <set>

#include "analyse/scope_channels.h"
#include "analyse/scopes.h"
#include "base/text.h"

namespace rubato::analyse {
namespace {

using Sources = std::vector<EnergySource>;

struct Power {
  Watts mean;
  Watts band;
};

std::optional<Power> power_of(const EnergySource& source, TimePoint begin, TimePoint end) {
  const auto energy = energy_over(source, begin, end);
  if (!energy || energy->apportioned) return std::nullopt;
  const Seconds length = end - begin;
  return Power{energy->energy / length, (energy->band_sampling + energy->band_calibration) / length};
}

// Plus the first `plus` of `terms`, less the others, over the time all of them tell of.
HostWatts sum_of(const Sources& sources, const std::vector<std::size_t>& terms, std::size_t plus,
                 std::string quality) {
  HostWatts host;
  TimePoint begin{INT64_MIN};
  TimePoint end{INT64_MAX};
  for (const std::size_t t : terms) {
    if (sources[t].curve.empty()) {
      host.quality = cat(sources[t].facts.name, " gave no readings");
      return host;
    }
    begin = std::max(begin, sources[t].curve.begin());
    end = std::min(end, sources[t].curve.end());
  }
  Watts sum;
  double squares = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto power = power_of(sources[terms[i]], begin, end);
    if (!power) {
      host.quality = "the meters were not read together for long enough";
      return host;
    }
    sum += i < plus ? power->mean : -power->mean;
    squares += std::pow(power->band.value(), 2);
    host.source += cat(i == 0 ? "" : i < plus ? " + " : " less ", sources[terms[i]].facts.name);
  }
  host.band = Watts(std::sqrt(squares));
  host.quality = std::move(quality);
  if (sum > Watts(0))
    host.value = sum;
  else
    host.quality = "the GPUs drew more than the meter at the wall told: it is not the meter of this machine";
  return host;
}

}  // namespace

HostWatts host_watts_of(const record::RunRecord& run, const Sources& sources,
                        const std::vector<ScopeRow>& rows) {
  std::set<std::size_t> once;
  for (const Scope scope : {Scope::platform, Scope::cpu_package, Scope::dram})
    for (const std::size_t channel : channels_of(run, scope)) once.insert(channel);
  std::vector<std::size_t> nodes;
  std::vector<std::size_t> platforms;
  std::vector<std::size_t> parts;
  std::vector<std::size_t> gpus;
  std::set<std::string> left_out;
  for (const ScopeRow& row : rows) {
    const SourceFacts& facts = sources[row.source].facts;
    const bool outermost = !row.inside || sources[*row.inside].facts.scope != facts.scope;
    if (facts.scope == Scope::node && outermost) nodes.push_back(row.source);
    const bool counts = facts.channel && once.contains(*facts.channel);
    if (facts.scope == Scope::platform && outermost && counts) platforms.push_back(row.source);
    const bool inside_package = row.inside && sources[*row.inside].facts.scope == Scope::cpu_package;
    if (facts.scope == Scope::cpu_package || (facts.scope == Scope::dram && !inside_package)) {
      if (counts)
        parts.push_back(row.source);
      else if (facts.channel)
        left_out.insert(run.channels[*facts.channel].info.meter);
    }
    if (facts.scope == Scope::gpu) gpus.push_back(row.source);
  }
  HostWatts host;
  if (nodes.empty() && platforms.empty() && parts.empty()) {
    host.quality = "no meter beside the GPUs was read; --meter names one";
    return host;
  }
  for (const std::size_t gpu : gpus)
    if (sources[gpu].facts.kind > Kind::apportioned) {
      host.quality = "the GPU is not a real one: the meters of this machine do not tell of its host";
      return host;
    }
  if (nodes.size() == 1) {
    std::vector<std::size_t> terms = nodes;
    terms.insert(terms.end(), gpus.begin(), gpus.end());
    return sum_of(sources, terms, 1, "the whole machine at the wall, losses of its power supply included");
  }
  if (platforms.size() == 1)
    return sum_of(sources, platforms, 1, "without fans, disks and the losses of the power supply");
  if (!parts.empty()) {
    const bool dram =
        std::ranges::any_of(parts, [&](std::size_t p) { return sources[p].facts.scope == Scope::dram; });
    std::string quality =
        cat("without ", dram ? "" : "memory, ", "fans, disks, network and the losses of the power supply");
    for (const std::string& meter : left_out) quality += cat("; ", meter, " reads the same and is not added");
    return sum_of(sources, parts, parts.size(), std::move(quality));
  }
  host.quality = "several meters read at the wall, and which of them is this machine's is not known";
  return host;
}

}  // namespace rubato::analyse
