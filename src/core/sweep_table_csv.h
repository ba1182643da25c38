// Sweep tables as text (docs/formats.md#sweep-table): reading what anybody wrote, and writing what reads back
// the same.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/sweep_table.h"

namespace rubato {

/// Errors (invalid_argument) name line, column and value. `name` stands in front of them: the file.
[[nodiscard]] Result<SweepTable> parse_sweep_table(std::string_view text,
                                                   std::string_view name = "sweep table");
/// At most 64 MiB.
[[nodiscard]] Result<SweepTable> read_sweep_table(const std::filesystem::path& path);
/// invalid_argument where a row could not be read back: a control character in a name, a value out of range,
/// a setting given twice.
[[nodiscard]] Result<std::string> write_sweep_table(const SweepTable& table);

}  // namespace rubato
