#include "cli/words/nearest.h"

#include <algorithm>

namespace rubato::cli {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    std::swap(last, row);
  }
  return last[b.size()];
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string* best = nullptr;
  std::size_t fewest = 0;
  std::vector<const std::string*> begun;
  for (const std::string& candidate : candidates) {
    if (candidate.starts_with(word)) begun.push_back(&candidate);
    const std::size_t edits = edit_distance(word, candidate);
    if (edits > std::max<std::size_t>(1, candidate.size() / 3) || (best != nullptr && edits >= fewest))
      continue;
    best = &candidate;
    fewest = edits;
  }
  if (best != nullptr) return *best;
  if (begun.size() == 1 && word.find_first_not_of('-') != std::string_view::npos) return *begun.front();
  return std::nullopt;
}

}  // namespace rubato::cli
