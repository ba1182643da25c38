#include "core/sweep_workloads.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace rubato {
namespace {

std::string title(const SweepTable& table, const SweepWorkload& w) {
  return cat(w.rows.empty() ? std::string() : table.place(w.rows.front()), "workload '", w.workload, "' of '",
             w.gpu, "'");
}

/// Every knob the workload's rows name, at the highest they name. nothing: no row has them all.
std::optional<std::size_t> highest_row(const SweepTable& table, const SweepWorkload& w) {
  std::optional<Watts> limit;
  std::optional<Megahertz> sm;
  std::optional<Megahertz> memory;
  for (const std::size_t i : w.rows) {
    const SweepRow& row = table.rows[i];
    limit = std::max(limit, row.power_limit);  // an absent one is lower than any
    sm = std::max(sm, row.sm_clock);
    memory = std::max(memory, row.memory_clock);
  }
  for (const std::size_t i : w.rows) {
    const SweepRow& row = table.rows[i];
    if (row.power_limit == limit && row.sm_clock == sm && row.memory_clock == memory) return i;
  }
  return std::nullopt;
}

Status find_default(const SweepTable& table, SweepWorkload& w) {
  std::vector<std::size_t> said;
  std::optional<std::size_t> untouched;
  for (const std::size_t i : w.rows) {
    const SweepRow& row = table.rows[i];
    if (row.is_default.value_or(false)) said.push_back(i);
    if (!row.power_limit && !row.sm_clock && !row.memory_clock) untouched = i;
  }
  if (said.size() > 1)
    return fail(ErrorCode::invalid_argument, cat(title(table, w), " has ", said.size(),
                                                 " rows that say they are the default; it needs one"));
  w.default_assumed = said.empty() && !untouched;
  const std::optional<std::size_t> found = !said.empty() ? said.front()
                                           : untouched   ? untouched
                                                         : highest_row(table, w);
  if (!found)
    return fail(ErrorCode::invalid_argument,
                cat(title(table, w),
                    " has no default row: none says so, none leaves every knob empty, and none has "
                    "every knob at its highest"),
                "add a column 'default' with 1 in the row of the default setting");
  w.default_row = *found;
  return {};
}

}  // namespace

Result<std::vector<SweepWorkload>> workloads_of(const SweepTable& table) {
  std::vector<SweepWorkload> out;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> places;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const SweepRow& row = table.rows[i];
    const auto [place, is_new] = places.try_emplace({row.gpu, row.workload}, out.size());
    if (is_new) out.push_back({.gpu = row.gpu, .workload = row.workload, .group = row.group});
    out[place->second].rows.push_back(i);
  }
  for (SweepWorkload& w : out)
    if (Status found = find_default(table, w); !found) return fail(found.error());
  return out;
}

std::vector<std::size_t> workloads_distinct(const SweepTable& table,
                                            const std::vector<SweepWorkload>& workloads) {
  using Point = std::tuple<std::optional<Watts>, std::optional<Megahertz>, std::optional<Megahertz>, Seconds,
                           Watts, Joules>;
  std::set<std::vector<Point>> seen;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    std::vector<Point> curve;
    for (const std::size_t r : workloads[i].rows) {
      const SweepRow& row = table.rows[r];
      curve.emplace_back(row.power_limit, row.sm_clock, row.memory_clock, row.time, row.power, row.energy);
    }
    std::sort(curve.begin(), curve.end());
    if (seen.insert(std::move(curve)).second) out.push_back(i);
  }
  return out;
}

std::size_t workloads_seen(const SweepTable& table, const SweepTable& train) {
  using Name = std::pair<std::string_view, std::string_view>;
  using Figures =
      std::tuple<std::optional<Watts>, std::optional<Megahertz>, std::optional<Megahertz>, Seconds, Joules>;
  const auto figures_of = [](const SweepRow& row) {
    return Figures{row.power_limit, row.sm_clock, row.memory_clock, row.time, row.energy};
  };
  std::set<Name> names;
  std::set<Figures> figures;
  for (const SweepRow& row : train.rows) {
    names.emplace(row.gpu, row.workload);
    figures.insert(figures_of(row));
  }
  // Defaults of tables that are relative to them are all alike: one row that is the same says nothing.
  std::map<Name, std::size_t> same;
  for (const SweepRow& row : table.rows) same[{row.gpu, row.workload}] += figures.contains(figures_of(row));
  return static_cast<std::size_t>(std::count_if(same.begin(), same.end(), [&](const auto& workload) {
    return names.contains(workload.first) || workload.second > 1;
  }));
}

}  // namespace rubato
