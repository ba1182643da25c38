// A sweep: one workload under many settings. The format is docs/formats.md#sweep-table.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace rubato {

/// Time and energy are per unit of fixed work.
struct SweepRow {
  std::string gpu;
  std::string workload;
  std::string group;  // what leave-one-out leaves out together
  std::optional<Watts> power_limit;
  std::optional<Megahertz> sm_clock;
  std::optional<Megahertz> memory_clock;
  Seconds time;
  Watts power;
  Joules energy;
  std::optional<bool> is_default;
  std::map<std::string, double> features;  // named without "feature_"
  bool operator==(const SweepRow&) const = default;
};

struct SweepTable {
  std::vector<std::string> comments;  // without "# "
  std::vector<SweepRow> rows;
  bool operator==(const SweepTable&) const = default;
};

}  // namespace rubato
