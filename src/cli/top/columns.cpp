#include "cli/top/columns.h"

#include <algorithm>

namespace rubato::cli::top {
namespace {

std::size_t width_of(const std::vector<FittedColumn>& columns) {
  std::size_t sum = columns.empty() ? 0 : columns.size() - 1;
  for (const FittedColumn& column : columns) sum += column.width;
  return sum;
}

void put_cell(Screen& screen, std::size_t row, std::size_t column, std::size_t width, bool right,
              const TextCell& cell) {
  const std::size_t used = glyphs_of(cell.text).size();
  const std::size_t indent = right && used < width ? width - used : 0;
  screen.put_cut(row, column + indent, width - indent, cell.text, cell.style);
}

}  // namespace

std::vector<FittedColumn> fit(const std::vector<Column>& columns, std::size_t width) {
  std::vector<FittedColumn> out;
  for (std::size_t i = 0; i < columns.size(); ++i) out.push_back({i, columns[i].least});
  const auto rank = [&](const FittedColumn& one) { return columns[one.index].leaves; };
  while (width_of(out) > width) {
    const auto first = std::max_element(out.begin(), out.end(),
                                        [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    if (first == out.end() || rank(*first) == 0) break;
    out.erase(first);
  }
  for (bool grew = true; grew && width_of(out) < width;) {
    grew = false;
    for (FittedColumn& one : out) {
      if (one.width >= columns[one.index].most || width_of(out) >= width) continue;
      ++one.width;
      grew = true;
    }
  }
  return out;
}

void put_heads(Screen& screen, std::size_t row, std::size_t column, const std::vector<Column>& columns,
               const std::vector<FittedColumn>& fitted) {
  for (const FittedColumn& one : fitted) {
    put_cell(screen, row, column, one.width, columns[one.index].right,
             {std::string(columns[one.index].head), {.faint = true}});
    column += one.width + 1;
  }
}

void put_row(Screen& screen, std::size_t row, std::size_t column, const std::vector<Column>& columns,
             const std::vector<FittedColumn>& fitted, const Row& cells) {
  for (const FittedColumn& one : fitted) {
    put_cell(screen, row, column, one.width, columns[one.index].right, cells[one.index]);
    column += one.width + 1;
  }
}

}  // namespace rubato::cli::top
