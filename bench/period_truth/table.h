// Shares and quantiles over many verdicts, and the page made of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "period_truth/judge.h"

namespace rubato::period_truth {

struct Tally {
  std::size_t traces = 0;
  std::size_t right = 0;
  std::size_t exact = 0;
  std::size_t close = 0;    // any period within 5 %, whatever it was said to be
  std::size_t related = 0;  // a correct multiple, beat, part or epoch
  std::size_t aperiodic = 0;
  std::size_t undecided = 0;
  std::size_t wrong = 0;           // a period that is none of these, or without a reason
  std::size_t sure_and_wrong = 0;  // does not hold, with a confidence over 0.9
  std::size_t first_wrong = 0;     // of the first statements
  double sure_and_wrong_time = 0;  // share of the time watched
  std::vector<double> decided_s;   // sorted; only those who did
  std::vector<double> decided_steps;
  std::vector<double> decided_ratio;  // over max(6 iterations, 8 s)
  std::vector<double> error;          // of the exact periods, relative
  double cpu_us = 0;                  // per point
  [[nodiscard]] double share(std::size_t part) const;
};
/// Of `total`, sorted: those who are missing from the end count as later than all.
[[nodiscard]] std::optional<double> quantile_of(const std::vector<double>& sorted, double rank,
                                                std::size_t total);

using Choose = std::function<bool(const Verdict&)>;
[[nodiscard]] Tally tally(const std::vector<Verdict>& verdicts, const Choose& choose);

[[nodiscard]] bool is_observable(const Verdict& verdict);
[[nodiscard]] bool is_beyond(const Verdict& verdict);  // has iterations that the readings cannot tell
[[nodiscard]] bool is_aperiodic(const Verdict& verdict);

struct Row {
  std::string detector;
  std::vector<Verdict> verdicts;
};
/// docs/evidence/periods.md: the first row in detail, the others beside it.
void print_page(const std::vector<Row>& rows, std::uint64_t first_seed, std::uint64_t traces);

}  // namespace rubato::period_truth
