#include "experiment/sweep_choice.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rubato::experiment {
namespace {

using Series = Quotient SweptSetting::*;

Best best_of(const SweepSummary& summary, Series series, const HalfWidths& apart) {
  const auto& settings = summary.settings;
  Best best;
  for (std::size_t i = 1; i < settings.size(); ++i)
    if ((settings[i].*series).value < (settings[best.setting].*series).value) best.setting = i;
  const double lowest = (settings[best.setting].*series).value;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    // Both were measured, so neither interval against the default tells: that of their difference does.
    const auto half = apart.between(i, best.setting);
    if (i != best.setting && half && std::log((settings[i].*series).value / lowest) <= *half)
      best.as_good.push_back(i);
  }
  return best;
}

std::vector<std::size_t> front_of(const std::vector<SweptSetting>& settings) {
  std::vector<std::size_t> by_time(settings.size());
  std::iota(by_time.begin(), by_time.end(), std::size_t{0});
  std::sort(by_time.begin(), by_time.end(), [&settings](std::size_t a, std::size_t b) {
    return settings[a].time != settings[b].time ? settings[a].time < settings[b].time
                                                : settings[a].energy < settings[b].energy;
  });
  std::vector<std::size_t> front;
  for (const std::size_t i : by_time)
    if (front.empty() || settings[i].energy < settings[front.back()].energy) front.push_back(i);
  return front;
}

}  // namespace

SweepChoices choices_of(const SweepSummary& summary, std::optional<double> max_slowdown) {
  SweepChoices out{best_of(summary, &SweptSetting::energy_over_default, summary.energy_apart),
                   best_of(summary, &SweptSetting::edp_over_default, summary.edp_apart),
                   best_of(summary, &SweptSetting::time_over_default, summary.time_apart), std::nullopt,
                   front_of(summary.settings)};
  if (!max_slowdown) return out;
  const double bound = 1 + *max_slowdown;
  BestInside inside{0, true};
  for (std::size_t i = 1; i < summary.settings.size(); ++i) {
    const SweptSetting& setting = summary.settings[i];
    if (setting.time_over_default.value > bound || setting.energy >= summary.settings[inside.setting].energy)
      continue;
    const auto& high = setting.time_over_default.high;
    inside = {i, high && *high <= bound};
  }
  out.inside = inside;
  return out;
}

}  // namespace rubato::experiment
