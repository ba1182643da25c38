#include "analyse/savings.h"

#include <algorithm>
#include <utility>

#include "analyse/batches.h"
#include "analyse/judged.h"
#include "analyse/quotient.h"
#include "base/text.h"

namespace rubato::analyse {
namespace {

tl::unexpected<Error> cannot(std::string why) {
  return fail(ErrorCode::not_found, std::move(why));
}

/// Everything that ran at another setting than the found one, with the mean error of `like`: settings differ
/// from each other, which is no error of their sum.
CostPerIteration sum_of(const std::vector<Stretch>& away, const CostPerIteration& like) {
  CostPerIteration sum = like;
  Joules energy;
  Seconds time;
  sum.iterations = 0;
  for (const Stretch& s : away) {
    energy += *s.energy;
    time += s.duration();
    sum.iterations += s.iterations;
  }
  sum.energy.value = energy.value() / static_cast<double>(sum.iterations);
  sum.time.value = time.value() / static_cast<double>(sum.iterations);
  return sum;
}

}  // namespace

Result<Savings> savings_of(const record::RunRecord& run, const std::vector<EnergySource>& sources,
                           const std::vector<Stretch>& stretches, const std::optional<EnergyWindow>& total,
                           const std::optional<Seconds>& duration) {
  std::vector<Stretch> found;
  std::vector<Stretch> hold;
  std::vector<Stretch> away;  // held, tried or on the way there
  std::int64_t iterations = 0;
  bool held = false;
  bool kept = false;
  bool tried = false;
  bool energy_missing = false;
  for (const Stretch& s : stretches) {
    iterations += s.iterations;
    if (at_their_setting(s)) continue;
    (s.setting.empty() ? kept : held) |= s.role == BlockRole::hold;
    tried = tried || s.role == BlockRole::trial;
    if (s.iterations == 0 || s.duration() <= Seconds(0)) continue;
    const bool has_energy = s.energy && *s.energy > Joules(0);
    if (has_energy && !at_found_setting(s) && (s.role != BlockRole::warmup || !s.setting.empty()))
      away.push_back(s);
    if (s.role == BlockRole::warmup || s.role == BlockRole::trial) continue;
    if (!has_energy)
      energy_missing = true;
    else
      (at_found_setting(s) ? found : hold).push_back(s);
  }
  if (run.info.mode == "measure" && record::someone_else_set(run))
    return cannot(
        "This run was measured only, and someone else changed the setting meanwhile, so there is nothing to "
        "compare.");
  if (run.info.mode == "measure")
    return cannot("This run was measured only: no setting was changed, so there is nothing to compare.");
  if (!held && kept && tried)
    return cannot("The found setting was kept: none that was tried was worth changing it for.");
  if (!held && tried)
    return cannot(
        "The run ended while settings were still being tried, so there is no chosen setting to compare.");
  const bool chooses =
      std::ranges::any_of(run.decisions, [](const record::Decision& d) { return d.action == "strategy"; });
  if (!held && chooses)
    return cannot("The run ended before another setting was tried, so there is nothing to compare.");
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

  const CostPerIteration at_found = cost_per_iteration(run, sources, found);
  const CostPerIteration at_hold = cost_per_iteration(run, sources, hold);
  const auto over_found = [](const Mean& hold_mean, const Mean& found_mean) {
    return quotient({hold_mean, "the chosen setting"}, {found_mean, "the found setting"});
  };
  const Estimate energy = over_found(at_hold.energy, at_found.energy);
  const Estimate time = over_found(at_hold.time, at_found.time);
  // What these stretches would have cost at the found setting, less what they did cost. The rest of the run
  // was at the found setting, or is counted as if it had been; it stands in the denominator only.
  const CostPerIteration at_away = sum_of(away, at_hold);
  const Estimate away_energy = over_found(at_away.energy, at_found.energy);
  const Estimate away_time = over_found(at_away.time, at_found.time);
  const auto n = static_cast<double>(at_away.iterations);
  const auto saved = [&](double ratio) { return Joules(n * at_away.energy.value) * (1.0 / ratio - 1.0); };
  const auto longer = [&](double ratio) { return Seconds(n * at_away.time.value) * (1.0 - 1.0 / ratio); };
  const Joules used = total ? total->energy : Joules(n * at_away.energy.value);
  const Seconds took = duration.value_or(Seconds(n * at_away.time.value));

  Savings s;
  for (const record::DeviceRecord& d : run.devices) s.kind = std::max(s.kind, d.info.kind);
  for (const Stretch& stretch : stretches)
    for (const record::Block* b : stretch.blocks)
      if (b->energy) s.kind = std::max(s.kind, b->energy->source.kind);
  s.energy_per_iteration = mapped(energy, [](double ratio) { return 1.0 - ratio; });
  s.slowdown = mapped(time, [](double ratio) { return ratio - 1.0; });
  for (const auto& [product, exponent] : {std::pair(&s.edp_per_iteration, 1), {&s.ed2p_per_iteration, 2}})
    *product = mapped(over_found(energy_delay(at_hold, exponent), energy_delay(at_found, exponent)),
                      [](double ratio) { return 1.0 - ratio; });
  s.run_saved = saved(away_energy.value);
  s.run_energy = mapped(away_energy, [&](double ratio) { return saved(ratio) / (used + saved(ratio)); });
  s.run_longer = longer(away_time.value);
  s.run_slowdown = mapped(away_time, [&](double ratio) { return longer(ratio) / (took - longer(ratio)); });
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
