#include "plan/expected_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "plan/setting_of.h"
#include "predict/prediction.h"

namespace rubato::plan {
namespace {

constexpr std::size_t kMost = 40;

using Height = double (*)(const predict::KnobPoint&);

// What is not locked is at its highest.
template <auto member>
double height(const predict::KnobPoint& at) {
  const auto& value = at.*member;
  return value ? value->value() : std::numeric_limits<double>::infinity();
}

constexpr std::array<Height, 3> kKnobs = {height<&predict::KnobPoint::power_limit>,
                                          height<&predict::KnobPoint::sm_clock>,
                                          height<&predict::KnobPoint::memory_clock>};

/// The one knob in which the settings differ; nothing where it is several, or none.
std::optional<Height> only_knob(const CurveBelief& belief) {
  std::optional<Height> only;
  for (const Height knob : kKnobs) {
    std::set<double> values;
    // The found setting may leave a knob alone that every other one sets.
    for (std::size_t i = 0; i < belief.size(); ++i)
      if (i != belief.found()) values.insert(knob(belief.at(i)));
    if (values.size() < 2) continue;
    if (only) return std::nullopt;
    only = knob;
  }
  return only;
}

std::vector<std::size_t> curve_of(const CurveBelief& belief) {
  std::vector<std::size_t> all(belief.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (const auto knob = only_knob(belief)) {
    std::ranges::stable_sort(all, std::greater(), [&](std::size_t i) { return (*knob)(belief.at(i)); });
    return all;
  }
  std::ranges::stable_sort(all, std::less(), [&](std::size_t i) { return belief.log_time(i); });
  double least = std::numeric_limits<double>::infinity();
  std::erase_if(all, [&](std::size_t i) {
    if (belief.energy(i) >= least) return true;
    least = belief.energy(i);
    return false;
  });
  return all;
}

ExpectedRatio ratio(double value, double log_mean, double deviation) {
  const double reach = predict::kHalfWidth90 * deviation;
  return {.value = value, .low = std::exp(log_mean - reach), .high = std::exp(log_mean + reach)};
}

}  // namespace

Expectation expected_curve(const CurveBelief& belief, double max_slowdown, std::size_t chosen,
                           const std::vector<bool>& measured) {
  const auto stays = [&](std::size_t i) { return measured[i] || i == chosen || i == belief.found(); };
  const double bound = std::log1p(max_slowdown);
  Expectation out;
  std::vector<bool> told(belief.size(), false);
  const auto tell = [&](std::size_t i, bool on_curve) {
    told[i] = true;
    const bool found = i == belief.found();
    const double log_time = belief.log_time(i);
    out.settings.push_back(
        {.setting = found ? Setting{} : setting_of(belief.at(i)),
         .time = ratio(belief.time(i), log_time, belief.log_time_deviation(i)),
         .energy = ratio(belief.energy(i), log_time + belief.log_power(i), belief.log_energy_deviation(i)),
         .holds = found ? 1 : belief.holds(i, bound),
         .measured = measured[i],
         .on_curve = on_curve});
  };
  const std::vector<std::size_t> curve = curve_of(belief);
  // The next point that is kept only because the line needs it.
  std::size_t kept = 0;
  const auto due = [&] { return curve.size() <= kMost ? kept : kept * (curve.size() - 1) / (kMost - 1); };
  for (std::size_t place = 0; place < curve.size(); ++place) {
    const bool needed = place == due();
    if (needed) ++kept;
    if (needed || stays(curve[place])) tell(curve[place], true);
  }
  for (std::size_t i = 0; i < belief.size(); ++i)
    if (stays(i) && !told[i]) tell(i, false);
  return out;
}

}  // namespace rubato::plan
