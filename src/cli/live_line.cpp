#include "cli/live_line.h"

#include <algorithm>
#include <cmath>

#include "base/percent.h"
#include "base/text.h"

namespace rubato::cli {
namespace {

// A change of the period by less is the job's own breathing.
constexpr double kWorthALine = 0.05;

std::string what_it_is(PeriodRelation relation) {
  if (relation == PeriodRelation::multiple) return "a multiple of the iteration";
  if (relation == PeriodRelation::beat) return "a beat of iteration and sensor (the iteration is shorter)";
  return "iteration";
}

std::string in_passing(double fraction) {
  return short_percent(fraction, fraction < 0.1 ? 1 : 0);
}

bool same(const IterationEstimate& a, const IterationEstimate& b) {
  if (a.source != b.source || a.periodic != b.periodic || a.relation != b.relation) return false;
  return !a.period || !b.period || abs(*a.period - *b.period) <= kWorthALine * *a.period;
}

/// "12.3 % ± 0.4 % less energy"; where the sign is in doubt, that no difference is seen.
std::string share_words(const conduct::Share& share, std::string_view what, std::string_view positive,
                        std::string_view negative) {
  const std::string half =
      share.half_width < 0.00005
          ? std::string(" ± under 0.01 %")
          : cat(" ± ", short_percent(share.half_width, share.half_width < 0.001 ? 2 : 1));
  if (std::abs(share.value) <= share.half_width) return cat("no difference in ", what, " beyond", half);
  return cat(short_percent(std::abs(share.value)), half, " ", share.value > 0 ? positive : negative, " ",
             what);
}

}  // namespace

std::string so_far_words(const conduct::SoFar& so_far, std::int64_t iterations, const Setting& in_force) {
  return cat("iteration ", iterations, " at ",
             in_force.empty() ? std::string("the found setting") : describe(in_force), ": ",
             share_words(so_far.saved, "energy", "less", "more"), " and ",
             share_words(so_far.slower, "time", "more", "less"), " so far (", name_of(so_far.kind),
             ", 90 % sure)");
}

std::string iteration_words(const IterationEstimate& e) {
  const std::string sure = cat(number(std::floor(e.confidence * 100), 0), " % sure");
  if (!e.periodic || !e.period) return cat("no iteration in ", name_of(e.source), ", ", sure, ": ", e.why);
  const bool exact = e.relation == PeriodRelation::exact;
  std::string words = cat(what_it_is(e.relation), exact ? " " : ": ", *e.period);
  if (e.half_width) words += cat(" ± ", in_passing(*e.half_width));
  words += cat(", from ", name_of(e.source), ", ", sure);
  if (e.drift_per_minute)
    words += cat("; ", *e.drift_per_minute > 0 ? "+" : "", in_passing(*e.drift_per_minute), " a minute");
  return words;
}

void LiveLine::say(const std::string& line) {
  if (left_ == 0) return;
  --left_;
  say_(left_ == 0 ? line + " (the report tells what comes after this)" : line);
}

void LiveLine::found(const progress::Ruling& ruling) {
  if (!ruling.estimate || (told_ && same(*told_, *ruling.estimate))) return;
  told_ = ruling.estimate;
  std::string line =
      cat("after ", number((ruling.estimate->at - begin_).value(), 1), " s: ", iteration_words(*told_));
  for (const auto& check : ruling.checks) line += cat("; ", name_of(check.source), ": ", check.why);
  say(line);
}

void LiveLine::begins(const std::string& intent) {
  say(intent);
}

void LiveLine::decided(const record::Decision& decision) {
  if (decision.action == "shares")
    return say(cat("after ", number((decision.at - begin_).value(), 1), " s: ", decision.why));
  const bool trial = decision.action == name_of(BlockRole::trial);
  if (!trial && decision.action != name_of(BlockRole::hold)) return;
  auto& told_of = trial ? tried_ : held_;
  if (std::find(told_of.begin(), told_of.end(), decision.setting) != told_of.end()) return;
  told_of.push_back(decision.setting);
  const std::string what = cat(trial ? "trying " : "holding ",
                               decision.setting.empty() ? "the found setting" : describe(decision.setting));
  // A reason that begins so itself needs no introduction.
  const bool told = decision.why.starts_with(what);
  say(cat("after ", number((decision.at - begin_).value(), 1), " s: ", told ? "" : cat(what, ": "),
          decision.why));
}

void LiveLine::so_far(const conduct::SoFar& so_far, std::int64_t iterations, const Setting& in_force) {
  const Seconds run = so_far.at - begin_;
  if (run < next_so_far_) return;
  while (next_so_far_ <= run) next_so_far_ = next_so_far_ * 2;
  say(cat("after ", number(run.value(), 0), " s: ", so_far_words(so_far, iterations, in_force)));
}

void LiveLine::shifted(const GpuId& gpu, const Shift& shift) {
  say(cat("after ", number((shift.at - begin_).value(), 1), " s: ", gpu.uuid, ": ", shift.why));
  told_.reset();
}

}  // namespace rubato::cli
