// A sweep: one workload under many settings. The format is docs/formats.md#sweep-table.
#pragma once

#include <cstddef>
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

/// Where a table was read, for messages: no part of what it says, so any two are equal.
struct SweepOrigin {
  std::string name;                // of the file; empty: made, not read
  std::vector<std::size_t> lines;  // of each row
  bool operator==(const SweepOrigin&) const { return true; }
};

struct SweepTable {
  std::vector<std::string> comments;  // without "# "
  std::vector<SweepRow> rows;
  SweepOrigin origin = {};
  bool operator==(const SweepTable&) const = default;

  /// "FILE, line 7: ", or nothing where the row was not read.
  [[nodiscard]] std::string place(std::size_t row) const {
    if (row >= origin.lines.size()) return {};
    return origin.name + ", line " + std::to_string(origin.lines[row]) + ": ";
  }
};

}  // namespace rubato
