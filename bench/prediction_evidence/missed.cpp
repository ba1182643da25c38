#include "prediction_evidence/missed.h"

#include <algorithm>

#include "base/text.h"
#include "plan/setting_of.h"
#include "prediction_evidence/lines.h"

namespace rubato::prediction_evidence {
namespace {

using experiment::JudgedWorkload;
using experiment::Validation;

constexpr std::size_t kShown = 8;

std::string percent(double fraction, int digits) {
  return cat(number(fraction * 100, digits), " %");
}

std::string text_of(const std::optional<predict::KnobPoint>& at) {
  return at ? describe(plan::setting_of(*at)) : "stays";
}

bool breaks(const JudgedWorkload& w) {
  return w.chosen && w.slowdown > kMaxSlowdown;
}

std::string probed_of(const JudgedWorkload& w) {
  std::string out;
  for (const auto& row : w.rows)
    if (row.probed) out += cat(out.empty() ? "" : "; ", text_of(row.at));
  return out.empty() ? "-" : out;
}

/// The best saving inside the bound that every workload has, and what is lost of it, in all.
struct Sums {
  double best = 0;
  double lost = 0;
};

Sums sums_of(const Validation& found) {
  Sums out;
  for (const JudgedWorkload& w : found.judged) {
    out.best += w.oracle_saving;
    out.lost += w.oracle_saving - w.saving;
  }
  return out;
}

/// Settings that were chosen without having been measured, and whether what was said of them came true.
std::string told_and_came(const Validation& found) {
  std::size_t chosen = 0;
  std::size_t broken = 0;
  double expected = 0;
  for (const JudgedWorkload& w : found.judged) {
    if (!w.chosen || w.holds >= 1) continue;
    ++chosen;
    expected += 1 - w.holds;
    broken += breaks(w) ? 1 : 0;
  }
  return cat(chosen, " settings were chosen unmeasured; ", number(expected, 1),
             " of them were expected to break the bound and ", broken, broken == 1 ? " does" : " do");
}

void print_one(const Outcome& o, const Validation& found) {
  const Sums sums = sums_of(found);
  double slow = 0;
  double less = 0;
  for (const JudgedWorkload& w : found.judged) (breaks(w) ? slow : less) += w.oracle_saving - w.saving;
  line(cat("### ", title(o.of), "\n"));
  line(cat("Of all that could be saved ", percent(sums.lost / sums.best, 1), " is lost: ",
           percent(slow / sums.best, 1), " where the bound breaks, ", percent(less / sums.best, 1),
           " where a setting inside it saves less than the best. ", told_and_came(found), ".\n"));
  std::vector<const JudgedWorkload*> order;
  for (const JudgedWorkload& w : found.judged)
    if (w.oracle_saving - w.saving > 0) order.push_back(&w);
  std::stable_sort(order.begin(), order.end(), [](const JudgedWorkload* a, const JudgedWorkload* b) {
    return a->oracle_saving - a->saving > b->oracle_saving - b->saving;
  });
  line(
      "| workload | could save | saves | lost, of all that could be saved | probed | chosen | said to hold | "
      "slower "
      "there |\n|---|---|---|---|---|---|---|---|");
  double rest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const JudgedWorkload& w = *order[i];
    const double lost = (w.oracle_saving - w.saving) / sums.best;
    if (i >= kShown) {
      rest += lost;
      continue;
    }
    const std::string slower = percent(w.slowdown, 1);
    line(cat("| ", w.workload, " | ", percent(w.oracle_saving, 1), " | ", percent(w.saving, 1), " | ",
             percent(lost, 1), " | ", probed_of(w), " | ", text_of(w.chosen), " | ",
             w.chosen ? percent(w.holds, 0) : "-", " | ", breaks(w) ? cat("**", slower, "**") : slower,
             " |"));
  }
  if (order.size() > kShown)
    line(cat("| ", order.size() - kShown, " others | | | ", percent(rest, 1), " | | | | |"));
  line("");
}

}  // namespace

void print_missed_savings(const std::vector<Outcome>& asked) {
  line("## What the savings that are not captured consist of\n");
  line(
      "Where less was captured than asked: the workloads that lose most. *Said to hold*: the probability "
      "that the model gave\n"
      "the chosen setting of being inside the bound; 100 % where it was measured. Bold: the bound breaks, "
      "and nothing counts as saved.\n");
  for (const Outcome& o : asked) {
    if (o.judged.empty() || !o.judged.front().found) continue;
    const Validation& found = *o.judged.front().found;
    const auto& captured = found.at_bound.captured;
    if (captured && *captured < o.of.asked.captured) print_one(o, found);
  }
}

}  // namespace rubato::prediction_evidence
