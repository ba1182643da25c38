#include "experiment/advise/measured_default.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/percent.h"
#include "base/text.h"
#include "core/feature_schema.h"
#include "predict/roofline/roofline.h"

namespace rubato::experiment {
namespace {

// Of a run without iterations: what ran at the found setting makes the setting look that much more like it.
constexpr double kWholeRun = 0.95;

struct PerUnit {
  Seconds time;
  Joules energy;
  std::int64_t iterations = 0;
  std::optional<double> time_error;  // relative, of the mean
  std::optional<double> energy_error;
};

// A whole run of fewer sensor updates is hardly seen by the sensor.
constexpr double kFewestUpdates = 10;
constexpr Seconds kUsualUpdate{0.1};

// Standard error of the mean of `ratios`, each with the weight of its iterations.
std::optional<double> relative_error(const std::vector<double>& values) {
  if (values.size() < 3) return std::nullopt;
  const double n = static_cast<double>(values.size());
  double mean = 0;
  for (const double v : values) mean += v / n;
  double square = 0;
  for (const double v : values) square += (v - mean) * (v - mean);
  return std::sqrt(square / (n - 1) / n) / mean;
}

// Of the stretches in which iterations were counted, at the found setting or at the one that was set; warm-up
// does not count.
std::optional<PerUnit> of_iterations(const record::RunRecord& run, const GpuId& gpu, bool as_found) {
  PerUnit sum;
  std::vector<double> times;
  std::vector<double> energies;
  for (const record::Block& block : run.blocks) {
    if (!(block.gpu == gpu) || block.role == BlockRole::warmup || block.iterations <= 0 || !block.energy)
      continue;
    if (block.setting.empty() != as_found) continue;
    const Seconds time = block.end - block.begin;
    sum.time += time;
    sum.energy += block.energy->energy;
    sum.iterations += block.iterations;
    times.push_back(time.value() / static_cast<double>(block.iterations));
    energies.push_back(block.energy->energy.value() / static_cast<double>(block.iterations));
  }
  if (sum.iterations == 0) return std::nullopt;
  sum.time = sum.time / static_cast<double>(sum.iterations);
  sum.energy = sum.energy / static_cast<double>(sum.iterations);
  sum.time_error = relative_error(times);
  sum.energy_error = relative_error(energies);
  return sum;
}

std::optional<PerUnit> of_run(const record::RunRecord& run, const GpuId& gpu) {
  if (!run.end) return std::nullopt;
  for (const record::DeviceEnd& end : run.end->devices)
    if (end.gpu == gpu && end.energy)
      return PerUnit{.time = end.energy->end - end.energy->begin, .energy = end.energy->energy};
  return std::nullopt;
}

/// Of the run at this GPU, the share in which a setting was in force that was asked for.
double share_in_force(const record::RunRecord& run, const GpuId& gpu) {
  const auto ended = std::find_if(run.end->devices.begin(), run.end->devices.end(),
                                  [&](const record::DeviceEnd& end) { return end.gpu == gpu; });
  const auto& whole = *ended->energy;
  Seconds set;
  std::optional<TimePoint> since;
  const auto leave = [&](TimePoint at) {
    if (since) set += std::max(Seconds(0), std::min(at, whole.end) - std::max(*since, whole.begin));
    since.reset();
  };
  for (const record::SettingChange& change : run.setting_changes) {
    if (!(change.gpu == gpu) || (change.outcome != "applied" && !change.outcome.starts_with("restored")))
      continue;
    leave(change.at);
    if (change.outcome == "applied" && !change.asked.empty()) since = change.at;
  }
  leave(whole.end);
  return set / (whole.end - whole.begin);
}

Status check_boards(const record::RunRecord& run) {
  if (run.devices.empty())
    return fail(ErrorCode::unavailable, "no GPU was measured that the command computed on", "rubato doctor");
  const auto& first = run.devices.front().info;
  for (const auto& device : run.devices)
    if (device.info.identity.name != first.identity.name)
      return fail(ErrorCode::not_supported,
                  cat("the command ran on boards of several kinds, ", first.identity.name, " and ",
                      device.info.identity.name, ": one advice cannot fit both"),
                  "choose the boards of one kind with --gpu");
  for (const record::SettingChange& change : run.setting_changes)
    if (change.outcome == "applied")
      return fail(ErrorCode::conflict,
                  cat("settings were changed during run ", run.info.run_id, ", by ", change.who),
                  "advice needs a run that only measures: rubato measure -- COMMAND");
  if (!first.found)
    return fail(ErrorCode::unavailable, cat(first.identity.name, " does not tell its power limits"),
                "rubato doctor");
  return {};
}

/// Of a run without iterations: that there is enough of it, and that it came to its end.
Status check_whole_run(const record::RunRecord& run, Seconds length) {
  if (run.end && (run.end->exit_signal || run.end->exit_code.value_or(0) != 0))
    return fail(ErrorCode::unavailable,
                cat("the command of run ", run.info.run_id, " failed (",
                    run.end->exit_signal ? cat("signal ", *run.end->exit_signal)
                                         : cat("exit status ", *run.end->exit_code),
                    "), and no iteration was found in what ran of it"),
                cat("rubato show ", run.info.run_id));
  const Seconds update = run.devices.front().info.sensor.update_period.value_or(kUsualUpdate);
  if (length < kFewestUpdates * update)
    return fail(ErrorCode::unavailable,
                cat("run ", run.info.run_id, " lasted ", length,
                    ", too short for a sensor that updates every ", update, ", and no iteration was found"),
                "let the command run for 10 s or longer");
  return {};
}

std::map<std::string, double> mean_features(const record::RunRecord& run) {
  struct Mean {
    double sum = 0;
    int count = 0;
  };
  std::map<std::string, Mean> means;
  for (const record::FeatureWindow& window : run.features) {
    if (!window.setting.empty()) continue;
    for (std::size_t f = 0; f < kFeatureCount; ++f) {
      if (!window.features.values[f]) continue;
      Mean& mean = means[std::string(kFeatureNames[f])];
      mean.sum += *window.features.values[f];
      ++mean.count;
    }
  }
  std::map<std::string, double> out;
  for (const auto& [name, mean] : means) out[name] = mean.sum / mean.count;
  return out;
}

}  // namespace

Result<MeasuredDefault> measured_default(const record::RunRecord& run) {
  if (const Status fine = check_boards(run); !fine) return fail(fine.error());
  MeasuredDefault out;
  const auto count = static_cast<double>(run.devices.size());
  const bool all_have_iterations =
      std::all_of(run.devices.begin(), run.devices.end(), [&](const record::DeviceRecord& device) {
        return of_iterations(run, device.info.identity.id, true).has_value();
      });
  predict::Observed& observed = out.known.at_default;
  for (const record::DeviceRecord& device : run.devices) {
    const GpuIdentity& identity = device.info.identity;
    const auto unit = all_have_iterations ? of_iterations(run, identity.id, true) : of_run(run, identity.id);
    if (!unit || unit->time.value() <= 0 || unit->energy.value() <= 0)
      return fail(ErrorCode::unavailable, cat("the energy of GPU ", identity.index, " could not be read"),
                  cat("rubato show ", run.info.run_id));
    observed.time += unit->time / count;
    observed.energy += unit->energy / count;
    if (out.gpus.empty()) {
      observed.time_error = unit->time_error;
      observed.energy_error = unit->energy_error;
      out.iterations = unit->iterations;
    }
    out.gpus.push_back(identity);
  }
  if (!all_have_iterations)
    if (const Status fine = check_whole_run(run, observed.time); !fine) return fail(fine.error());
  const record::DeviceInfo& first = run.devices.front().info;
  out.kind = first.kind;
  out.limits = *first.found;
  observed.at.power_limit = first.found->requested;
  out.known.gpu = first.identity.name;
  out.known.highest.power_limit = first.found->max;
  out.known.features = mean_features(run);
  // As in the curves that models learn from.
  out.known.features.merge(predict::roofline_features(out.known.features));
  return out;
}

Result<predict::Observed> measured_at(const record::RunRecord& run, const predict::KnobPoint& at,
                                      const MeasuredDefault& by_default) {
  predict::Observed out{.at = at, .time = {}, .energy = {}};
  const auto count = static_cast<double>(run.devices.size());
  for (const record::DeviceRecord& device : run.devices) {
    const GpuId& gpu = device.info.identity.id;
    const auto unit = by_default.iterations > 0 ? of_iterations(run, gpu, false) : of_run(run, gpu);
    if (!unit || unit->time.value() <= 0 || unit->energy.value() <= 0)
      return fail(ErrorCode::unavailable,
                  cat("run ", run.info.run_id, " tells nothing of the setting it was made for"),
                  cat("rubato show ", run.info.run_id));
    if (by_default.iterations == 0) {
      const double share = share_in_force(run, gpu);
      if (share < kWholeRun)
        return fail(ErrorCode::unavailable,
                    cat("run ", run.info.run_id, " had the setting it was made for in force in ",
                        short_percent(share), " of it, and no iteration was found that tells the rest apart"),
                    "mark the iterations: docs/iterations.md; or let the command run longer");
    }
    out.time += unit->time / count;
    out.energy += unit->energy / count;
    out.time_error = unit->time_error;
    out.energy_error = unit->energy_error;
  }
  if (run.devices.empty())
    return fail(ErrorCode::unavailable, cat("run ", run.info.run_id, " measured no GPU"));
  return out;
}

}  // namespace rubato::experiment
