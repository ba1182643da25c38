// The kernel's powercap tree as energy domains: which registers there are, what each covers, and which of
// them are the same one seen twice.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fs_root.h"
#include "base/result.h"
#include "core/meter_reading.h"

namespace rubato::meter::rapl {

struct Zone {
  MeterChannel channel;
  std::string domain;  // "package", "core", "uncore", "dram", "psys", or what a newer kernel calls it
  std::filesystem::path energy_file;
  std::optional<std::uint64_t> top;  // max_energy_range_uj; absent where it cannot be read
};

/// In the order of the tree, each physical register once. Empty where there is no powercap tree.
[[nodiscard]] std::vector<Zone> find_zones(const FsRoot& root);

/// Those an argument names: "" is packages, DRAM and platform; "all"; else a comma list of domains ("dram")
/// and channels ("package-0"). A channel whose container is not chosen is inside nothing.
[[nodiscard]] Result<std::vector<Zone>> choose_zones(std::vector<Zone> zones, std::string_view argument);

}  // namespace rubato::meter::rapl
