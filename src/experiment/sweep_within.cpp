#include "experiment/sweep_within.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "experiment/sweep_in_force.h"
#include "plan/setting_of.h"

namespace rubato::experiment {
namespace {

// The drain between two stretches takes at least twice as long; blocks of one stretch follow without a gap.
constexpr Seconds kSameStretch{0.25};

struct Held {
  Setting setting;
  TimePoint begin;
  TimePoint end;
  Seconds time;
  std::int64_t iterations = 0;
};

/// Of one GPU: the others run the same iterations.
std::vector<Held> stretches_of(const record::RunRecord& run, const GpuId& gpu) {
  std::vector<Held> out;
  for (const record::Block& block : run.blocks) {
    if (block.gpu != gpu || (block.role != BlockRole::hold && block.role != BlockRole::control)) continue;
    const bool goes_on =
        !out.empty() && out.back().setting == block.setting && block.begin - out.back().end < kSameStretch;
    if (!goes_on) out.push_back({block.setting, block.begin, block.end, {}, 0});
    out.back().end = block.end;
    out.back().time += block.end - block.begin;
    out.back().iterations += block.iterations;
  }
  return out;
}

void add_energy(const record::RunRecord& run, const GpuId& gpu, const Held& held, Joules& energy,
                Joules& band, SweepMeasurement& out) {
  for (const record::Block& block : run.blocks) {
    const TimePoint middle = block.begin + (block.end - block.begin) / 2.0;
    if (block.gpu != gpu || middle < held.begin || middle > held.end) continue;
    if (!block.energy) {
      out.not_used = "its energy could not be read";
      continue;
    }
    energy += block.energy->energy;
    band += block.energy->band_sampling;
  }
}

SweepMeasurement measured(const record::RunRecord& run, const predict::KnobPoint& at, const Held& held) {
  SweepMeasurement out;
  out.at = at;
  out.run_id = run.info.run_id;
  out.iterations = held.iterations;
  out.time = held.time / static_cast<double>(held.iterations);
  Joules energy;
  Joules band;
  for (const auto& device : run.devices) {
    out.kind = std::max(out.kind, device.info.kind);
    add_energy(run, device.info.identity.id, held, energy, band, out);
    const auto loaded = loaded_readings(device, held.begin, held.end);
    const InForce force = judge_readings(loaded, at);
    if (force.objection && out.not_used.empty()) out.not_used = *force.objection;
    out.notes.insert(out.notes.end(), force.notes.begin(), force.notes.end());
    if (out.reached == Reached{}) out.reached = force.reached;
    if (!loaded.empty()) out.temperature = loaded.back().temperature;
  }
  out.boards = static_cast<unsigned>(run.devices.size());
  out.energy = energy / static_cast<double>(held.iterations);
  if (energy > Joules(0))
    out.energy_band = band / energy;
  else if (out.not_used.empty())
    out.not_used = "no energy was counted in it";
  return out;
}

}  // namespace

std::vector<SweepMeasurement> measurements_within(const record::RunRecord& run,
                                                  std::span<const predict::KnobPoint> steps,
                                                  std::int64_t iterations) {
  std::vector<SweepMeasurement> out;
  if (run.devices.empty()) return out;
  for (const Held& held : stretches_of(run, run.devices.front().info.identity.id)) {
    if (out.size() == steps.size()) break;
    const predict::KnobPoint& at = steps[out.size()];
    // A stretch begins and ends between iterations; only whole ones are in its blocks.
    if (held.setting != plan::setting_of(at) || held.iterations < iterations - 2 || held.iterations < 1)
      continue;
    out.push_back(measured(run, at, held));
  }
  return out;
}

}  // namespace rubato::experiment
