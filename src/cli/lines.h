// Lines on standard output that are sentences and not tables.
#pragma once

#include <string_view>

namespace rubato::cli {

/// `first`, then `text`, and a line feed: broken at spaces where a terminal is, its further lines below the
/// text; whole in a pipe or a file, where programs look at lines.
void print_line(std::string_view first, std::string_view text);

}  // namespace rubato::cli
