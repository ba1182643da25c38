#include "cli/report/search_report.h"

#include <algorithm>
#include <cmath>

#include "cli/report/run_report.h"

namespace rubato::cli {
namespace {

using analyse::Estimate;
using analyse::Search;
using analyse::TriedSetting;
using report::Amount;
using report::Array;
using report::Missing;
using report::Object;
using report::Value;

constexpr std::string_view kExpectsNothing =
    "this strategy tells nothing it expects, or the record is of an older rubato";

// More digits than anything about it is known to would make a page of them long.
Amount rounded(double value) {
  return {std::round(value * 1e5) / 1e5, "", 4};
}

Object ratio_json(const ExpectedRatio& ratio) {
  return {{"ratio", rounded(ratio.value)}, {"low_90", rounded(ratio.low)}, {"high_90", rounded(ratio.high)}};
}

Value expected_json(const std::optional<analyse::ExpectedOfTry>& expected) {
  if (!expected) return Missing{std::string(kExpectsNothing)};
  return Object{{"energy_saved", estimate_json(expected->energy_saved)},
                {"slowdown", estimate_json(expected->slowdown)},
                {"holds", rounded(expected->holds)}};
}

/// While settling; what is tried later belongs to watching.
std::size_t tried_before_settling(const Search& search) {
  return static_cast<std::size_t>(std::count_if(search.tried.begin(), search.tried.end(),
                                                [](const TriedSetting& t) { return !t.while_watching; }));
}

std::string cell(const std::optional<Estimate>& e) {
  return e ? cat(fixed(100 * e->value, 1), " %", interval_text(*e)) : "-";
}

Value figure(const std::optional<Estimate>& e) {
  return e ? estimate_json(*e) : Value(Missing{"no whole iterations were measured there, or no baseline"});
}

}  // namespace

std::string interval_text(const Estimate& estimate) {
  if (!estimate.interval) return {};
  const int digits = std::abs(estimate.value) < 0.0095 ? 2 : 1;
  return cat(" (", fixed(100 * estimate.interval->low, digits), " to ",
             fixed(100 * estimate.interval->high, digits), " %)");
}

std::string search_sentence(const Search& search, const std::optional<Seconds>& duration) {
  const std::size_t n = tried_before_settling(search);
  std::string out =
      cat(n, n == 1 ? " setting was" : " settings were", " tried in ", text_of(search.searching));
  if (duration && *duration > Seconds(0))
    out += cat(", ", percent(search.searching / *duration), " of the run", search.settled ? "," : "");
  out += search.settled ? " before one was held." : "; the run ended before one was held.";
  if (const std::size_t later = search.tried.size() - n; later > 0)
    out += cat(" ", later, later == 1 ? " more was" : " more were", " tried while it was watched.");
  return out;
}

void tried_table(Page& page, const Search& search, Kind kind) {
  page.heading(cat("Tried, against the found setting (", name_of(kind), ")"));
  Table table(
      {{"setting"}, {"for", true}, {"iterations", true}, {"energy saved", true}, {"more time", true}});
  for (const TriedSetting& t : search.tried)
    table.add({t.setting.empty() ? "as found" : describe(t.setting), text_of(t.time), cat(t.iterations),
               cell(t.energy_saved), cell(t.slowdown)});
  page.table(table);
}

Value estimate_json(const Estimate& e) {
  Object out{{"fraction", Amount{e.value, "", 4}}};
  out.set("low_90", e.interval ? Value(Amount{e.interval->low, "", 4}) : Value(Missing{e.why_no_interval}));
  out.set("high_90", e.interval ? Value(Amount{e.interval->high, "", 4}) : Value(Missing{e.why_no_interval}));
  if (!e.interval) out.set("why_no_interval", e.why_no_interval);
  return out;
}

Value counted(std::optional<Watts> watts) {
  if (watts) return Amount{watts->value(), "W"};
  return Missing{"not counted"};
}

Value goal_json(const record::RunRecord& run) {
  if (!run.goal) return Missing{"no strategy chose the setting, or the record is of an older rubato"};
  const Goal& goal = run.goal->goal;
  return Object{{"strategy", run.goal->strategy},
                {"objective", name_of(goal.objective)},
                {"max_slowdown", goal.power_budget ? Value(Missing{"a power budget has no bound on time"})
                                                   : Value(Amount{goal.max_slowdown, "", 3})},
                {"host_w", counted(goal.host_watts)},
                {"second_w", counted(goal.second)},
                {"idle_w", counted(goal.idle)},
                {"power_budget_w", goal.power_budget ? Value(Amount{goal.power_budget->value(), "W"})
                                                     : Value(Missing{"there was none"})}};
}

Value expectation_json(const record::RunRecord& run, std::size_t which) {
  const record::ExpectationAt& e = run.expectations[which];
  Array settings;
  for (const ExpectedSetting& s : e.expectation.settings)
    settings.emplace_back(Object{{"setting", setting_json(s.setting)},
                                 {"time", ratio_json(s.time)},
                                 {"energy", ratio_json(s.energy)},
                                 {"holds", rounded(s.holds)},
                                 {"measured", s.measured},
                                 {"on_curve", s.on_curve}});
  return Object{{"at_s", Amount{(e.at - run.info.begin).value(), "s", 3}}, {"settings", std::move(settings)}};
}

Value search_json(const analyse::Summary& summary, const record::RunRecord& run) {
  const TimePoint begin = run.info.begin;
  if (!summary.search) return Missing{"no setting was tried"};
  const Search& search = *summary.search;
  const auto since = [begin](TimePoint t) { return Amount{(t - begin).value(), "s", 3}; };
  Array tried;
  for (const TriedSetting& t : search.tried)
    tried.emplace_back(Object{{"setting", setting_json(t.setting)},
                              {"first_s", since(t.first)},
                              {"time_s", Amount{t.time.value(), "s"}},
                              {"iterations", t.iterations},
                              {"energy_saved", figure(t.energy_saved)},
                              {"slowdown", figure(t.slowdown)},
                              {"while_watching", t.while_watching},
                              {"expected", expected_json(t.expected)}});
  return Object{{"settings_tried", static_cast<std::int64_t>(tried_before_settling(search))},
                {"began_s", since(search.began)},
                {"settled_s", search.settled ? Value(since(*search.settled))
                                             : Value(Missing{"the run ended before a setting was held"})},
                {"searching_s", Amount{search.searching.value(), "s", 3}},
                {"tried", std::move(tried)},
                {"expected", search.choice ? expectation_json(run, *search.choice)
                                           : Value(Missing{std::string(kExpectsNothing)})}};
}

}  // namespace rubato::cli
