#include <algorithm>
#include <cmath>

#include "analyse/savings.h"
#include "analyse/search.h"
#include "analyse/stretch.h"
#include "analyse/summary.h"
#include "base/text.h"

namespace rubato::analyse {
namespace {

// Of a record that was cut short: from what its samples hold.
std::optional<EnergyWindow> energy_of_samples(const record::DeviceRecord& device,
                                              const EnergySource& source) {
  if (device.fast.empty() || source.curve.empty()) return std::nullopt;
  const TimePoint begin = std::max(device.fast.front().at, source.curve.begin());
  const TimePoint end = std::min(device.fast.back().at, source.curve.end());
  const auto energy = source.curve.between(begin, end);
  if (!energy) return std::nullopt;
  std::string quality = "from the samples of a record without its end";
  if (energy->unseen > Seconds(0)) quality += cat("; ", energy->unseen, " without readings, estimated");
  const SensorFacts& sensor = device.info.sensor;
  if (sensor.gain) quality += cat("; ", sensor.calibrated_by.empty() ? "calibrated" : sensor.calibrated_by);
  const bool counter = source.curve.has_counter();
  return EnergyWindow{begin,
                      end,
                      energy->energy,
                      energy->band_sampling,
                      calibration_band(source.facts, energy->energy, energy->over),
                      {counter ? "energy_counter" : "integrated_power", counter ? "J" : "W", Scope::gpu,
                       source.facts.kind, std::move(quality)}};
}

GpuSummary gpu_summary(const record::RunRecord& run, const record::DeviceRecord& device,
                       const EnergySource& source) {
  GpuSummary gpu{.identity = device.info.identity, .kind = device.info.kind};
  if (device.info.found) gpu.found = Setting{.power_limit = device.info.found->requested};
  if (run.end) {
    const auto end = std::ranges::find(run.end->devices, device.info.identity.id, &record::DeviceEnd::gpu);
    if (end != run.end->devices.end()) {
      gpu.energy = end->energy;
      if (end->found) gpu.found = end->found;
      gpu.requested = end->requested;
      gpu.restoration = end->restoration;
      gpu.restoration_detail = end->restoration_detail;
    }
  } else {
    gpu.energy = energy_of_samples(device, source);
    for (const record::SettingChange& change : run.setting_changes)
      if (change.gpu == gpu.identity.id && change.who == "rubato" && change.outcome == "applied")
        gpu.requested = change.asked;
  }
  if (gpu.energy)
    gpu.kind = std::max(gpu.kind, gpu.energy->source.kind);
  else
    gpu.why_no_energy = device.fast.empty() ? "the GPU gave no power reading" : "too few readings to tell";
  return gpu;
}

std::optional<EnergyWindow> total_of(const std::vector<GpuSummary>& gpus) {
  if (gpus.empty() || !gpus.front().energy) return std::nullopt;
  EnergyWindow total = *gpus.front().energy;
  double sampling = std::pow(total.band_sampling.value(), 2);
  for (std::size_t i = 1; i < gpus.size(); ++i) {
    const auto& one = gpus[i].energy;
    if (!one) return std::nullopt;
    total.begin = std::min(total.begin, one->begin);
    total.end = std::max(total.end, one->end);
    total.energy += one->energy;
    sampling += std::pow(one->band_sampling.value(), 2);
    // GPUs of one model are off the same way, so these do not average out.
    total.band_calibration += one->band_calibration;
    total.source.kind = std::max(total.source.kind, one->source.kind);
  }
  total.band_sampling = Joules(std::sqrt(sampling));
  return total;
}

// Per iteration counts what had iterations: a program loads its libraries and data before the first one.
std::vector<SettingSummary> by_setting(const std::vector<Stretch>& stretches) {
  struct Iterating {
    Seconds time;
    std::optional<Joules> energy = Joules(0);
  };
  std::vector<SettingSummary> rows;
  std::vector<Iterating> iterating;  // of each row
  for (const Stretch& s : stretches) {
    auto row = std::ranges::find_if(
        rows, [&](const SettingSummary& r) { return r.role == s.role && r.setting == s.setting; });
    const bool fresh = row == rows.end();
    if (fresh) {
      row = rows.insert(rows.end(), SettingSummary{.role = s.role, .setting = s.setting});
      iterating.emplace_back();
    }
    if (!s.energy)
      row->energy.reset();
    else if (fresh)
      row->energy = s.energy;
    else if (row->energy)
      *row->energy += *s.energy;
    ++row->stretches;
    row->time += s.duration();
    row->iterations += s.iterations;
    if (s.iterations == 0) continue;
    Iterating& part = iterating[static_cast<std::size_t>(row - rows.begin())];
    part.time += s.duration();
    part.energy = part.energy && s.energy ? std::optional(*part.energy + *s.energy) : std::nullopt;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    SettingSummary& row = rows[i];
    const auto n = static_cast<double>(row.iterations);
    if (row.energy && row.time > Seconds(0)) row.mean_power = *row.energy / row.time;
    if (row.iterations == 0) continue;
    row.iteration_time = iterating[i].time / n;
    if (iterating[i].energy) row.energy_per_iteration = *iterating[i].energy / n;
  }
  return rows;
}

std::optional<Seconds> duration_of(const record::RunRecord& run) {
  if (run.end) return run.end->end - run.info.begin;
  TimePoint last = run.info.begin;
  for (const record::DeviceRecord& d : run.devices)
    if (!d.fast.empty()) last = std::max(last, d.fast.back().at);
  return last > run.info.begin ? std::optional(last - run.info.begin) : std::nullopt;
}

OwnCostSummary cost_of(const record::RunRecord& run) {
  const record::OwnCost& own = run.end->cost;
  OwnCostSummary cost{
      .driver = own.driver, .cpu = own.cpu, .ticks = own.ticks, .bytes_written = own.bytes_written};
  const Seconds length = run.end->end - run.info.begin;
  if (length > Seconds(0) && run.info.clock_rate > 0) {
    cost.wall = length / run.info.clock_rate;
    cost.cpu_fraction = own.cpu / *cost.wall;
    cost.driver_fraction = own.driver.inside / *cost.wall;
  }
  if (own.ticks > 0)
    cost.bytes_per_tick = static_cast<double>(own.bytes_written) / static_cast<double>(own.ticks);
  return cost;
}

void weigh_host(Savings& savings, const HostWatts& host) {
  const bool longer = savings.run_longer > Seconds(0);
  if (longer && savings.run_saved > Joules(0))
    savings.vanishes_at_host = savings.run_saved / savings.run_longer;
  if (host.value) savings.run_saved_with_host = savings.run_saved - *host.value * savings.run_longer;
}

}  // namespace

Summary summarise(const record::RunRecord& run) {
  Summary summary;
  summary.duration = duration_of(run);
  const std::vector<EnergySource> sources = sources_of(run);
  for (std::size_t i = 0; i < run.devices.size(); ++i)
    summary.gpus.push_back(gpu_summary(run, run.devices[i], *board(sources, i)));
  summary.total = total_of(summary.gpus);
  const std::vector<Stretch> stretches = stretches_of(run);
  summary.settings = by_setting(stretches);
  if (auto savings = savings_of(run, sources, stretches, summary.total, summary.duration))
    summary.savings = std::move(*savings);
  else
    summary.why_no_savings = std::move(savings.error().what);
  summary.search = search_of(run, sources, stretches);
  if (run.end) summary.cost = cost_of(run);
  summary.timeline = timeline_of(run);
  summary.parts = parts_of(run, summary.timeline, sources);
  summary.scopes = scopes_of(run, summary.timeline, sources);
  for (const EnergySource& source : sources)
    if (auto kernels = kernels_of(run, source)) summary.kernels.push_back(std::move(*kernels));
  if (summary.savings) weigh_host(*summary.savings, summary.scopes.host);
  return summary;
}

}  // namespace rubato::analyse
