// Columns of a table on a screen: which of them fit, how wide each may be, and their cells.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/top/screen.h"

namespace rubato::cli::top {

struct Column {
  std::string_view head;
  std::size_t least = 1;  // characters
  std::size_t most = 0;   // where there is room; below `least`: never more than that
  bool right = false;
  int leaves = 0;  // where it gets narrow the highest number leaves first; 0: stays
};

struct TextCell {
  std::string text;
  Style style{};
};
using Row = std::vector<TextCell>;  // one for each column

struct FittedColumn {
  std::size_t index = 0;  // in the columns given
  std::size_t width = 0;
};

/// For `width` characters with one blank between columns. What room is left goes to the columns that may
/// grow, in turn.
[[nodiscard]] std::vector<FittedColumn> fit(const std::vector<Column>& columns, std::size_t width);

void put_heads(Screen& screen, std::size_t row, std::size_t column, const std::vector<Column>& columns,
               const std::vector<FittedColumn>& fitted);
void put_row(Screen& screen, std::size_t row, std::size_t column, const std::vector<Column>& columns,
             const std::vector<FittedColumn>& fitted, const Row& cells);

}  // namespace rubato::cli::top
