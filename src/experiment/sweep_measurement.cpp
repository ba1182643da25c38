#include "experiment/sweep_measurement.h"

#include <algorithm>

#include "base/text.h"
#include "experiment/sweep_in_force.h"

namespace rubato::experiment {
namespace {

void take_temperatures(const record::DeviceRecord& device, TimePoint begin, TimePoint end,
                       SweepMeasurement& out) {
  const TimePoint half = begin + (end - begin) / 2.0;
  for (const SlowReading& reading : loaded_readings(device, begin, end)) {
    if (!reading.temperature) continue;
    if (reading.at <= half || !out.temperature_halfway) out.temperature_halfway = reading.temperature;
    out.temperature = reading.temperature;
  }
}

const record::DeviceEnd* end_of(const record::RunRecord& run, const GpuId& gpu) {
  for (const auto& end : run.end->devices)
    if (end.gpu == gpu) return &end;
  return nullptr;
}

void object(SweepMeasurement& out, const std::string& why) {
  if (out.not_used.empty()) out.not_used = why;
}

}  // namespace

std::map<std::string, double> mean_features(const record::RunRecord& run) {
  std::map<std::string, double> sums;
  std::map<std::string, int> counts;
  for (const auto& window : run.features) {
    for (std::size_t i = 0; i < kFeatureCount; ++i) {
      const auto value = window.features.values[i];
      if (!value) continue;
      sums[std::string(kFeatureNames[i])] += *value;
      ++counts[std::string(kFeatureNames[i])];
    }
  }
  for (auto& [name, sum] : sums) sum /= counts[name];
  return sums;
}

SweepMeasurement measurement_of(const record::RunRecord& run, const predict::KnobPoint& at) {
  SweepMeasurement out;
  out.at = at;
  out.run_id = run.info.run_id;
  out.iterations = static_cast<std::int64_t>(run.iterations.size());
  out.features = mean_features(run);
  if (!run.end) {
    out.not_used = "its record was cut short";
    return out;
  }
  out.time = run.end->end - run.info.begin;
  if (run.devices.empty()) object(out, "the command computed on none of the GPUs");
  Joules band;
  unsigned boards = 0;
  for (const auto& device : run.devices) {
    const record::DeviceEnd* end = end_of(run, device.info.identity.id);
    if (end != nullptr && end->used_by_job == false) continue;
    ++boards;
    out.kind = std::max(out.kind, device.info.kind);
    if (end == nullptr || !end->energy) {
      object(out, cat(device.info.identity.name, ": its energy could not be read"));
    } else {
      out.energy += end->energy->energy;
      band += end->energy->band_sampling;
    }
    const InForce force = judge_run(run, device, at);
    if (force.objection) object(out, *force.objection);
    out.notes.insert(out.notes.end(), force.notes.begin(), force.notes.end());
    if (out.reached == Reached{}) out.reached = force.reached;
    take_temperatures(device, run.info.begin, run.end->end, out);
  }
  out.boards = std::max(1U, boards);
  if (out.energy > Joules(0)) out.energy_band = band / out.energy;
  if (out.time <= Seconds(0) || out.energy <= Joules(0)) object(out, "no energy was counted in it");
  return out;
}

}  // namespace rubato::experiment
