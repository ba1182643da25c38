// What stands behind `--gpu replay:`: FILE#WORKLOAD@SECONDS, several by comma.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "core/sweep_table.h"

namespace rubato::device::replay {

struct ReplaySpec {
  std::filesystem::path file;
  std::string workload;              // empty: the only one the file has
  std::optional<Seconds> iteration;  // how long one lasts at the default setting; absent: as in the table
};

/// invalid_argument names the item. '#' divides file and workload, '@' behind it begins the seconds; neither
/// name can have a comma.
[[nodiscard]] Result<std::vector<ReplaySpec>> parse_specs(std::string_view argument);

/// One workload of a table, ready to be replayed.
struct ReplaySource {
  SweepTable table;  // the rows of this workload alone, without comments
  std::optional<Seconds> iteration;
};

/// Errors name the file and the workloads it has.
[[nodiscard]] Result<ReplaySource> load(const ReplaySpec& spec);
/// The same from a table in memory. `name` is for errors.
[[nodiscard]] Result<ReplaySource> select(const SweepTable& table, std::string_view workload,
                                          std::optional<Seconds> iteration, std::string_view name);

}  // namespace rubato::device::replay
