#include "experiment/sweep_result_table.h"

#include <algorithm>

#include "base/text.h"
#include "experiment/sweep_grid.h"

namespace rubato::experiment {
namespace {

std::string range(const Quotient& q) {
  if (!q.low || !q.high) return cat(number(q.value, 5), " (no interval)");
  return cat(number(q.value, 5), " (", number(*q.low, 5), " to ", number(*q.high, 5), ")");
}

void say_intervals(const SweepSummary& summary, std::vector<std::string>& comments) {
  comments.emplace_back("time and energy over the default's, with 90 % intervals:");
  for (const SweptSetting& s : summary.settings) {
    const std::string runs = cat(s.runs, s.runs == 1 ? " run" : " runs");
    comments.push_back(s.is_default() ? cat("  default: ", runs)
                                      : cat("  ", describe(s.at), ": time ", range(s.time_over_default),
                                            ", energy ", range(s.energy_over_default), ", ", runs));
  }
  for (const SweptSetting& s : summary.lost)
    comments.push_back(cat("not used: ", describe(s.at), ": ", s.not_used.front()));
}

/// That every run computed on; 1: different numbers of them, or different boards.
unsigned boards_of(const SweepSummary& summary, const SweepNames& names) {
  if (names.board.empty() || summary.settings.empty()) return 1;
  const unsigned boards = summary.settings.front().boards;
  const bool alike = std::all_of(summary.settings.begin(), summary.settings.end(),
                                 [boards](const SweptSetting& s) { return s.boards == boards; });
  return alike ? boards : 1;
}

}  // namespace

SweepTable table_of(const SweepSummary& summary, const SweepNames& names,
                    std::optional<Watts> default_limit) {
  SweepTable table;
  table.comments = names.comments;
  const unsigned boards = boards_of(summary, names);
  if (boards > 1)
    table.comments.push_back(cat("energy and power are the mean of one of ", boards,
                                 " boards, each at the limit and clocks of its row"));
  say_intervals(summary, table.comments);
  const auto keep = [&summary](const std::string& feature) {
    return std::all_of(summary.settings.begin(), summary.settings.end(),
                       [&feature](const SweptSetting& s) { return s.features.contains(feature); });
  };
  for (const SweptSetting& s : summary.settings) {
    SweepRow row{.gpu = names.board.empty() ? names.gpu : names.board,
                 .workload = names.workload,
                 .group = names.group};
    row.power_limit = s.is_default() ? default_limit : s.at.power_limit;
    row.sm_clock = s.at.sm_clock;
    row.memory_clock = s.at.memory_clock;
    row.time = s.time;
    row.energy = s.energy / boards;
    row.power = s.power() / boards;
    row.is_default = s.is_default();
    for (const auto& [feature, value] : s.features)
      if (keep(feature)) row.features.emplace(feature, value);
    table.rows.push_back(std::move(row));
  }
  for (std::string& comment : table.comments)
    std::replace_if(
        comment.begin(), comment.end(), [](unsigned char c) { return c < 32 || c == 127; }, '?');
  return table;
}

}  // namespace rubato::experiment
