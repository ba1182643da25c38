#include "analyse/search.h"

#include <algorithm>

#include "analyse/judged.h"
#include "analyse/quotient.h"

namespace rubato::analyse {
namespace {

struct Tried {
  TriedSetting told;
  std::vector<Stretch> judged;
};

void compare(TriedSetting& tried, const CostPerIteration& at, const CostPerIteration& found) {
  const auto over = [](const Mean& above, const Mean& below) {
    return quotient({above, "this setting"}, {below, "the found setting"});
  };
  tried.energy_saved = mapped(over(at.energy, found.energy), [](double ratio) { return 1.0 - ratio; });
  tried.slowdown = mapped(over(at.time, found.time), [](double ratio) { return ratio - 1.0; });
}

Estimate over_found(const ExpectedRatio& ratio, double sign) {
  const double low = sign * (ratio.low - 1);
  const double high = sign * (ratio.high - 1);
  return {sign * (ratio.value - 1), Interval{std::min(low, high), std::max(low, high)}, {}};
}

std::optional<ExpectedOfTry> expected_of(const record::RunRecord& run, const TriedSetting& tried) {
  std::optional<ExpectedOfTry> out;
  for (const record::ExpectationAt& e : run.expectations) {
    if (e.at > tried.first) break;
    const auto mine = std::ranges::find(e.expectation.settings, tried.setting, &ExpectedSetting::setting);
    if (mine != e.expectation.settings.end())
      out = {over_found(mine->energy, -1), over_found(mine->time, 1), mine->holds};
  }
  return out;
}

std::optional<std::size_t> choice_of(const record::RunRecord& run, const std::optional<TimePoint>& settled) {
  std::optional<std::size_t> out;
  for (std::size_t i = 0; i < run.expectations.size(); ++i)
    if (!settled || run.expectations[i].at <= *settled) out = i;
  return out;
}

}  // namespace

std::optional<Search> search_of(const record::RunRecord& run, const std::vector<EnergySource>& sources,
                                const std::vector<Stretch>& stretches) {
  // The divisions of a budget are of all boards together, and have no found setting beside them.
  if (run.goal && run.goal->goal.power_budget) return std::nullopt;
  Search out;
  std::vector<Tried> all;
  std::vector<Stretch> found;
  bool any = false;
  for (const Stretch& s : stretches) {
    if (s.role == BlockRole::hold && any && !out.settled) out.settled = s.begin;
    if (judged(s) && at_found_setting(s)) found.push_back(s);
    if (s.role != BlockRole::trial) continue;
    if (!any) out.began = s.begin;
    any = true;
    if (!out.settled) out.searching = s.end - out.began;
    auto mine = std::ranges::find_if(all, [&](const Tried& t) { return t.told.setting == s.setting; });
    if (mine == all.end()) {
      mine = all.insert(all.end(), Tried{});
      mine->told.setting = s.setting;
      mine->told.first = s.begin;
      mine->told.while_watching = out.settled.has_value();
    }
    mine->told.time += s.duration();
    mine->told.iterations += s.iterations;
    if (judged(s)) mine->judged.push_back(s);
  }
  if (!any) return std::nullopt;
  if (out.settled) out.searching = *out.settled - out.began;
  const auto at_found = found.empty() ? std::nullopt : std::optional(cost_per_iteration(run, sources, found));
  for (Tried& tried : all) {
    if (at_found && !tried.judged.empty())
      compare(tried.told, cost_per_iteration(run, sources, tried.judged), *at_found);
    tried.told.expected = expected_of(run, tried.told);
    out.tried.push_back(std::move(tried.told));
  }
  out.choice = choice_of(run, out.settled);
  return out;
}

}  // namespace rubato::analyse
