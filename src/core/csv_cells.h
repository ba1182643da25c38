// One line of CSV (RFC 4180, without line breaks inside quotes) to cells and back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rubato {

/// The error is a clause: "a quoted cell does not end on its line".
[[nodiscard]] Result<std::vector<std::string>> csv_cells(std::string_view line);
/// In quotes where it needs them.
[[nodiscard]] std::string csv_cell(std::string_view text);
/// For a message: in quotes, short, and without what a terminal would act on.
[[nodiscard]] std::string shown_cell(std::string_view value);

}  // namespace rubato
