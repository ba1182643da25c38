#include "analyse/kernels.h"

#include <rubato/mark_layout.h>

#include <algorithm>
#include <array>
#include <map>

#include "analyse/mark_names.h"
#include "base/text.h"

namespace rubato::analyse {
namespace {

struct Recorded {
  TimePoint begin;
  TimePoint end;
};

std::string uuid_text(const std::array<std::uint8_t, 16>& bytes) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < bytes.size(); ++i)
    text += cat(i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", hex(bytes[i], 2));
  return text;
}

// A kernel that does not say where it ran ran on the only GPU, if there is only one.
std::vector<const KernelRecord*> kernels_on(const record::RunRecord& run, const std::string& uuid) {
  std::vector<const KernelRecord*> own;
  std::map<std::array<std::uint8_t, 16>, bool> here;
  for (const KernelRecord& k : run.kernels) {
    if (k.end <= k.begin) continue;
    const bool unknown = std::ranges::all_of(k.device_uuid, [](std::uint8_t b) { return b == 0; });
    const auto [at, fresh] = here.try_emplace(k.device_uuid, false);
    if (fresh) at->second = unknown ? run.devices.size() == 1 : uuid_text(k.device_uuid) == uuid;
    if (at->second) own.push_back(&k);
  }
  std::ranges::stable_sort(own, {}, [](const KernelRecord* k) { return k->begin; });
  return own;
}

// Cycles of several processes on one GPU overlap: their union. Without cycles, all the time kernels span.
std::vector<Recorded> recorded_of(const record::RunRecord& run,
                                  const std::vector<const KernelRecord*>& kernels) {
  std::vector<Recorded> all;
  for (const record::KernelCycle& c : run.kernel_cycles)
    if (c.begin < c.end) all.push_back({c.begin, c.end});
  if (all.empty()) {
    TimePoint end = kernels.front()->end;
    for (const KernelRecord* k : kernels) end = std::max(end, k->end);
    return {{kernels.front()->begin, end}};
  }
  std::ranges::sort(all, {}, &Recorded::begin);
  std::vector<Recorded> joined;
  for (const Recorded& r : all) {
    if (!joined.empty() && r.begin <= joined.back().end)
      joined.back().end = std::max(joined.back().end, r.end);
    else
      joined.push_back(r);
  }
  return joined;
}

// Seconds of every kernel in which it ran, divided by how many ran beside it.
std::vector<double> fair_seconds(const std::vector<const KernelRecord*>& kernels) {
  struct Edge {
    TimePoint at;
    bool begins;
    std::size_t kernel;
  };
  std::vector<Edge> edges;
  edges.reserve(2 * kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    edges.push_back({kernels[i]->begin, true, i});
    edges.push_back({kernels[i]->end, false, i});
  }
  std::ranges::sort(edges, {}, [](const Edge& e) { return std::pair(e.at, e.begins); });
  // What one kernel would have got had it run from the start: the difference of two values is its part.
  double each = 0;
  std::size_t running = 0;
  TimePoint last{};
  std::vector<double> seconds(kernels.size());
  for (const Edge& e : edges) {
    if (running > 0) each += (e.at - last).value() / static_cast<double>(running);
    last = e.at;
    seconds[e.kernel] += e.begins ? -each : each;
    if (e.begins)
      ++running;
    else
      --running;
  }
  return seconds;
}

using Shares = std::map<std::uint64_t, KernelShare>;

void count(Shares& shares, std::uint64_t id, const KernelRecord& kernel, double fair, double recorded) {
  KernelShare& share = shares[id];
  share.id = id;
  ++share.times;
  share.time += kernel.end - kernel.begin;
  share.share += fair / recorded;
}

std::vector<KernelShare> ranked(const record::RunRecord& run, const Shares& shares,
                                const std::optional<Joules>& energy) {
  std::vector<KernelShare> out;
  for (const auto& [id, told] : shares) {
    KernelShare share = told;
    const auto name = run.names.find(id);
    if (name != run.names.end())
      share.name = name->second;
    else if (id <= RUBATO_PHASE_COMMUNICATION)
      share.name = name_of_phase(id);  // a layer may be no more than a phase
    else
      share.name = cat("without a name (", hex(id, 16), ")");
    if (energy) share.energy = *energy * share.share;
    out.push_back(std::move(share));
  }
  std::ranges::stable_sort(out, std::ranges::greater(), &KernelShare::share);
  return out;
}

}  // namespace

std::optional<KernelSummary> kernels_of(const record::RunRecord& run, const EnergySource& source) {
  if (!source.facts.gpu || source.facts.scope != Scope::gpu) return std::nullopt;
  const auto kernels = kernels_on(run, run.devices[*source.facts.gpu].info.identity.id.uuid);
  if (kernels.empty()) return std::nullopt;
  KernelSummary summary;
  summary.gpu = source.facts.key;
  std::optional<Joules> energy = Joules(0);
  for (const Recorded& r : recorded_of(run, kernels)) {
    summary.recorded += r.end - r.begin;
    const auto part = energy_over(source, r.begin, r.end);
    energy = part && energy ? std::optional(*energy + part->energy) : std::nullopt;
  }
  for (const record::KernelCycle& c : run.kernel_cycles) summary.lost += c.lost;
  const std::vector<double> fair = fair_seconds(kernels);
  Shares names;
  Shares layers;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const double seconds = summary.recorded.value();
    count(names, kernels[i]->name_hash, *kernels[i], fair[i], seconds);
    if (kernels[i]->layer != 0) count(layers, kernels[i]->layer, *kernels[i], fair[i], seconds);
    summary.busy += fair[i] / seconds;
  }
  summary.kernels = static_cast<std::int64_t>(kernels.size());
  summary.names = ranked(run, names, energy);
  summary.layers = ranked(run, layers, energy);
  summary.kind = std::max(Kind::apportioned, source.facts.kind);
  summary.model =
      "split by kernel time at the mean power of the recorded stretches; kernels at the same moment share it "
      "equally, "
      "and what ran between kernels stays with nobody";
  return summary;
}

}  // namespace rubato::analyse
