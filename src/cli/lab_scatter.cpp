#include "cli/lab_scatter.h"

#include <algorithm>
#include <cmath>

#include "cli/report/page.h"

namespace rubato::cli {
namespace {

constexpr std::size_t kColumns = 60;
constexpr std::size_t kLines = 11;
constexpr std::size_t kLabel = 7;  // "-12.3 %"

std::size_t place(double value, double least, double most, std::size_t count) {
  const double at = (value - least) / (most - least) * static_cast<double>(count - 1);
  return static_cast<std::size_t>(std::clamp(std::round(at), 0.0, static_cast<double>(count - 1)));
}

char mark(int runs) {
  if (runs == 1) return 'o';
  return runs < 10 ? static_cast<char>('0' + runs) : '+';
}

}  // namespace

Scatter::Scatter(double bound) : frame_{.most_slowdown = bound * 1.2, .most_saving = 0.01, .bound = bound} {}

void Scatter::include(std::span<const lab::Row> rows) {
  for (const lab::Row& row : rows) {
    frame_.least_slowdown = std::min(frame_.least_slowdown, row.run.slowdown);
    frame_.most_slowdown = std::max(frame_.most_slowdown, row.run.slowdown);
    frame_.least_saving = std::min(frame_.least_saving, row.run.saving);
    frame_.most_saving = std::max(frame_.most_saving, row.run.saving);
  }
}

std::vector<std::string> Scatter::lines(std::span<const lab::Row> rows) const {
  const ScatterFrame& f = frame_;
  std::vector<int> counts(kColumns * kLines, 0);
  for (const lab::Row& row : rows) {
    const std::size_t x = place(row.run.slowdown, f.least_slowdown, f.most_slowdown, kColumns);
    const std::size_t y = place(row.run.saving, f.least_saving, f.most_saving, kLines);
    ++counts[(kLines - 1 - y) * kColumns + x];
  }
  const std::size_t bound = place(f.bound, f.least_slowdown, f.most_slowdown, kColumns);
  std::vector<std::string> out;
  for (std::size_t l = 0; l < kLines; ++l) {
    std::string label;
    if (l == 0) label = percent(f.most_saving);
    if (l + 1 == kLines) label = percent(f.least_saving);
    std::string line = padded(label, kLabel, true) + " ";
    for (std::size_t x = 0; x < kColumns; ++x) {
      const int runs = counts[l * kColumns + x];
      line += runs > 0 ? mark(runs) : x == bound ? '|' : l + 1 == kLines ? '.' : ' ';
    }
    out.push_back(std::move(line));
  }
  std::string axis = cat(padded("", kLabel), " ", percent(f.least_slowdown), " slower");
  const std::string end = percent(f.most_slowdown);
  axis += padded(end, kLabel + 1 + kColumns - std::min(axis.size(), kLabel + 1 + kColumns), true);
  out.push_back(std::move(axis));
  return out;
}

}  // namespace rubato::cli
