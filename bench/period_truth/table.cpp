#include "period_truth/table.h"

#include <algorithm>
#include <cmath>

namespace rubato::period_truth {

double Tally::share(std::size_t part) const {
  return traces == 0 ? 0 : static_cast<double>(part) / static_cast<double>(traces);
}

std::optional<double> quantile_of(const std::vector<double>& sorted, double rank, std::size_t total) {
  if (total == 0) return std::nullopt;
  const auto place = static_cast<std::size_t>(rank * static_cast<double>(total - 1));
  if (place >= sorted.size()) return std::nullopt;
  return sorted[place];
}

bool is_observable(const Verdict& verdict) {
  return verdict.observable;
}

bool is_beyond(const Verdict& verdict) {
  return verdict.truth_s && !verdict.observable;
}

bool is_aperiodic(const Verdict& verdict) {
  return !verdict.truth_s;
}

Tally tally(const std::vector<Verdict>& verdicts, const Choose& choose) {
  Tally tally;
  double watched = 0;
  double cpu_s = 0;
  std::size_t points = 0;
  for (const Verdict& v : verdicts) {
    if (!choose(v)) continue;
    ++tally.traces;
    tally.right += v.right;
    tally.exact += v.outcome == Outcome::exact;
    tally.close += v.stated_s && v.truth_s && std::abs(*v.stated_s / *v.truth_s - 1) <= 0.05;
    tally.related += v.outcome == Outcome::multiple || v.outcome == Outcome::beat ||
                     v.outcome == Outcome::part || v.outcome == Outcome::epoch;
    tally.aperiodic += v.outcome == Outcome::aperiodic;
    tally.undecided += v.outcome == Outcome::undecided;
    tally.wrong += v.outcome == Outcome::wrong;
    tally.sure_and_wrong += v.sure_and_wrong();
    tally.first_wrong += v.decided_after_s && !v.first_right;
    tally.sure_and_wrong_time += v.sure_and_wrong_s;
    watched += v.watched_s;
    cpu_s += v.cpu_s;
    points += v.points;
    if (v.decided_after_s) tally.decided_s.push_back(*v.decided_after_s);
    if (v.decided_after_s && v.truth_s) tally.decided_steps.push_back(*v.decided_after_s / *v.truth_s);
    if (const auto ratio = v.decision_ratio()) tally.decided_ratio.push_back(*ratio);
    if (v.outcome == Outcome::exact && v.stated_s && v.truth_s)
      tally.error.push_back(std::abs(*v.stated_s / *v.truth_s - 1));
  }
  if (watched > 0) tally.sure_and_wrong_time /= watched;
  if (points > 0) tally.cpu_us = 1e6 * cpu_s / static_cast<double>(points);
  for (auto* list : {&tally.decided_s, &tally.decided_steps, &tally.decided_ratio, &tally.error})
    std::sort(list->begin(), list->end());
  return tally;
}

}  // namespace rubato::period_truth
