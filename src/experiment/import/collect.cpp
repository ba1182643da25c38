#include "experiment/import/collect.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.h"
#include "core/csv_cells.h"
#include "core/sweep_workloads.h"

namespace rubato::experiment {

std::string place(const std::string& file, std::size_t line) {
  return cat(file, ", line ", line);
}

std::string stem(const std::string& file) {
  return std::filesystem::path(file).stem().string();
}

Result<Watts> plausible_limit(double watts, const std::string& file, std::size_t line) {
  constexpr double kLeast = 5;
  constexpr double kMost = 3000;
  if (watts >= kLeast && watts <= kMost) return Watts(watts);
  return fail(ErrorCode::invalid_argument,
              cat(place(file, line), ": a power limit of ", number(watts), " W is no GPU's"),
              cat("the limit must be in watts, ", number(kLeast), " to ", number(kMost)));
}

Status Collect::add(SweepRow row, const std::string& file, std::size_t line) {
  const auto [first, is_new] = places_.try_emplace(
      {row.gpu, row.workload, row.power_limit, row.sm_clock, row.memory_clock}, place(file, line));
  if (!is_new)
    return fail(
        ErrorCode::invalid_argument,
        cat(place(file, line), ": workload ", shown_cell(row.workload),
            " stands at this setting already: ", first->second),
        "one row is one workload at one setting; --workload tells files apart that have the same name");
  table_.rows.push_back(std::move(row));
  return {};
}

void Collect::keep_common_features() {
  std::set<std::string> lacking;
  for (const SweepRow& row : table_.rows)
    for (const auto& [name, value] : row.features)
      if (!std::all_of(table_.rows.begin(), table_.rows.end(),
                       [&name = name](const SweepRow& other) { return other.features.contains(name); }))
        lacking.insert(name);
  if (lacking.empty()) return;
  std::string names;
  for (const std::string& name : lacking) {
    names += cat(names.empty() ? "" : ", ", name);
    for (SweepRow& row : table_.rows) row.features.erase(name);
  }
  comment(cat("left out, as some rows lack them: ", names));
}

Result<SweepTable> Collect::finish() && {
  if (table_.rows.empty())
    return fail(ErrorCode::invalid_argument, "there is no measurement in what was given");
  if (const auto workloads = workloads_of(table_); !workloads) return fail(workloads.error());
  return std::move(table_);
}

}  // namespace rubato::experiment
