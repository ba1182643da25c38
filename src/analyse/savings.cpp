#include "analyse/savings.h"

#include <algorithm>

#include "analyse/batches.h"
#include "analyse/quotient.h"
#include "base/text.h"

namespace rubato::analyse {
namespace {

template <class Map>
Estimate mapped(const Estimate& from, Map map) {
  Estimate to{.value = map(from.value), .why_no_interval = from.why_no_interval};
  if (from.interval) {
    const double one = map(from.interval->low);
    const double other = map(from.interval->high);
    to.interval = Interval{std::min(one, other), std::max(one, other)};
  }
  return to;
}

tl::unexpected<Error> cannot(std::string why) {
  return fail(ErrorCode::not_found, std::move(why));
}

bool is_found_setting(BlockRole role) {
  return role == BlockRole::baseline || role == BlockRole::control;
}

}  // namespace

Result<Savings> savings_of(const record::RunRecord& run, const std::vector<Stretch>& stretches,
                           const std::optional<EnergyWindow>& total, const std::optional<Seconds>& duration) {
  std::vector<Stretch> found;
  std::vector<Stretch> hold;
  std::int64_t iterations = 0;
  bool held = false;
  bool energy_missing = false;
  for (const Stretch& s : stretches) {
    iterations += s.iterations;
    held = held || s.role == BlockRole::hold;
    if (s.iterations == 0 || s.duration() <= Seconds(0) || s.role == BlockRole::warmup) continue;
    if (!s.energy || *s.energy <= Joules(0))
      energy_missing = true;
    else
      (is_found_setting(s.role) ? found : hold).push_back(s);
  }
  if (run.info.mode == "measure")
    return cannot("This run was measured only: no setting was changed, so there is nothing to compare.");
  if (!held) return cannot("No other setting was held in this run, so there is nothing to compare.");
  if (iterations == 0)
    return cannot(
        "No training iterations were seen, so the energy of one cannot be told and settings cannot be "
        "compared.");
  if (energy_missing && (found.empty() || hold.empty()))
    return cannot("The energy of a GPU could not be read, so settings cannot be compared.");
  if (found.empty())
    return cannot("There is no baseline: no whole iterations ran at the found setting after the warm-up.");
  if (hold.empty()) return cannot("No whole iterations ran at the chosen setting.");

  const CostPerIteration at_found = cost_per_iteration(run, found);
  const CostPerIteration at_hold = cost_per_iteration(run, hold);
  const auto over_found = [](const Mean& hold_mean, const Mean& found_mean) {
    return quotient({hold_mean, "the chosen setting"}, {found_mean, "the found setting"});
  };
  const Estimate energy = over_found(at_hold.energy, at_found.energy);
  const Estimate time = over_found(at_hold.time, at_found.time);
  Joules hold_energy;
  Seconds hold_time;
  for (const Stretch& s : hold) {
    hold_energy += *s.energy;
    hold_time += s.duration();
  }
  // What hold would have cost at the found setting, less what it did cost. The rest of the run was at the
  // found setting, or is counted as if it had been; it stands in the denominator only.
  const auto saved = [&](double ratio) { return hold_energy * (1.0 / ratio - 1.0); };
  const auto longer = [&](double ratio) { return hold_time * (1.0 - 1.0 / ratio); };
  const Joules used = total ? total->energy : hold_energy;
  const Seconds took = duration.value_or(hold_time);

  Savings s;
  for (const record::DeviceRecord& d : run.devices) s.kind = std::max(s.kind, d.info.kind);
  for (const Stretch& stretch : stretches)
    for (const record::Block* b : stretch.blocks)
      if (b->energy) s.kind = std::max(s.kind, b->energy->source.kind);
  s.energy_per_iteration = mapped(energy, [](double ratio) { return 1.0 - ratio; });
  s.slowdown = mapped(time, [](double ratio) { return ratio - 1.0; });
  s.run_saved = saved(energy.value);
  s.run_energy = mapped(energy, [&](double ratio) { return saved(ratio) / (used + saved(ratio)); });
  s.run_longer = longer(time.value);
  s.run_slowdown = mapped(time, [&](double ratio) { return longer(ratio) / (took - longer(ratio)); });
  s.found_iterations = at_found.iterations;
  s.hold_iterations = at_hold.iterations;
  s.method =
      "baseline and control blocks against hold blocks; 90 % interval by Student's t over batches of whole "
      "iterations "
      "of at least 50 sensor updates, or over blocks where these scatter more, widened for what neighbouring "
      "batches "
      "share; the sensor's calibration error is the same on both sides and cancels";
  return s;
}

}  // namespace rubato::analyse
