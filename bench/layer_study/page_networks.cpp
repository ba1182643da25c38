#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "layer_study/page.h"
#include "sim_facts/numbers.h"

namespace rubato::layer_study {
namespace {

std::string cells(const plan::SegmentCost& cost, const plan::SegmentCost& against) {
  return cat(change(-saved(cost.energy, against.energy)), " | ", change(slower(cost.time, against.time)),
             " | ", change(-edp_saved(cost, against)));
}

std::string row(const std::string& name, const std::string& switching, const std::optional<Outcome>& outcome,
                const Outcomes& outcomes) {
  if (!outcome) return cat("| ", name, " | ", switching, " | no plan keeps the bound | | | | | | |\n");
  return cat("| ", name, " | ", switching, " | ", cells(outcome->cost, outcomes.at_default), " | ",
             cells(outcome->cost, outcomes.single), " | ", number(outcome->changes, 1), " |\n");
}

std::string main_table(const Case& one) {
  const Outcomes& o = one.outcomes;
  std::string out =
      cat("\n### ", words_of(one.question), ", ", one.board.profile,
          "\n\nDefault: ", duration(o.at_default.time), " and ", number(o.at_default.energy.value(), 2),
          " J an iteration (", number((o.at_default.energy / o.at_default.time).value(), 0),
          " W).\n\n| strategy | clocks change | energy | time | EDP | energy against single | time "
          "| EDP | changes |\n|---|---|---|---|---|---|---|---|---|\n");
  out += row("single", "never", Outcome{o.single, {}, 0}, o);
  for (const Row& r : o.rows) {
    out += row(r.strategy, "at once", r.ideal, o);
    const Seconds typical = one.board.clock_latency.typical;
    out += row(r.strategy, cat("in ", duration(typical)), r.delayed, o);
    if (r.strategy != "phase" || !r.delayed) continue;
    for (const double share : {1 - one.board.clock_latency.spread, 1 + one.board.clock_latency.spread})
      out += row("the same plan", cat("in ", duration(typical * share)),
                 met_by(one, *r.delayed, typical * share), o);
  }
  return out;
}

std::string durations_table(const std::vector<Case>& cases) {
  std::string out =
      "| case | board | layers x passes | iteration | median layer | nine of ten below | longest | published "
      "delay "
      "over the median | time in layers longer than the delay |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const Case& one : cases) {
    const Durations d = durations_of(one);
    out += cat("| ", words_of(one.question), " | ", one.board.profile, " | ", d.layers, " | ",
               duration(d.iteration), " | ", duration(d.median), " | ", duration(d.p90), " | ",
               duration(d.longest), " | ", number(one.board.clock_latency.typical / d.median, 0), " | ",
               facts::percent(d.longer_than_delay, 0), " |\n");
  }
  return out;
}

std::string break_even_table(const std::vector<CaseBreakEven>& found) {
  std::string out = "| case | board |";
  std::string rule = "|---|---|";
  for (const std::string& strategy : found.front().strategies) {
    out += cat(" ", strategy, " |");
    rule += "---|";
  }
  out += cat("\n", rule, "\n");
  for (const CaseBreakEven& one : found) {
    out += cat("| ", words_of(one.of->question), " | ", one.of->board.profile, " |");
    for (const BreakEven& b : one.found) {
      if (!b.ever)
        out += " never |";
      else if (!b.delay)
        out += " above 1 s |";
      else
        out += cat(*b.delay <= Seconds(1e-6) ? " below " : " ", duration(*b.delay), " |");
    }
    out += "\n";
  }
  return out;
}

// Energy and time of one strategy against the default, free and with the published delay.
std::string pair_cells(const Case& one, std::string_view strategy) {
  for (const Row& r : one.outcomes.rows) {
    if (r.strategy != strategy) continue;
    const auto cell = [&](const std::optional<Outcome>& o) {
      return o ? cat(change(-saved(o->cost.energy, one.outcomes.at_default.energy)), " in ",
                     change(slower(o->cost.time, one.outcomes.at_default.time)))
               : std::string("no plan");
    };
    return cat(cell(r.ideal), " | ", cell(r.delayed));
  }
  return "- | -";
}

std::string summary_table(const std::vector<const Case*>& cases, bool with_model) {
  std::string out = cat("| case | board |", with_model ? " precision | dense reach |" : " bound |",
                        " single | exhaustive, at once | delayed | phase, at once | delayed |\n|---|---|---|",
                        with_model ? "---|" : "", "---|---|---|---|---|\n");
  for (const Case* one : cases) {
    const Outcomes& o = one->outcomes;
    out += cat("| ", words_of(one->question), " | ", one->board.profile, " | ");
    if (with_model)
      out += cat(name_of(one->question.precision), " | ", number(one->question.reach.dense, 2));
    else
      out += facts::percent(one->question.bound, 0);
    out += cat(" | ", change(-saved(o.single.energy, o.at_default.energy)), " in ",
               change(slower(o.single.time, o.at_default.time)), " | ", pair_cells(*one, "exhaustive"), " | ",
               pair_cells(*one, "phase"), " |\n");
  }
  return out;
}

}  // namespace

std::string duration(Seconds time) {
  if (time < Seconds(1e-3)) return cat(number(time.value() * 1e6, time < Seconds(1e-5) ? 1 : 0), " µs");
  if (time < Seconds(1)) return cat(number(time.value() * 1e3, time < Seconds(0.1) ? 1 : 0), " ms");
  return cat(number(time.value(), 2), " s");
}

std::string change(double ratio) {
  const double rounded = std::round(ratio * 1000) / 10;
  return cat(rounded > 0 ? "+" : "", number(rounded == 0 ? 0 : rounded, 1), " %");
}

std::string networks_part(const Answers& answers, const std::vector<CaseBreakEven>& found) {
  std::string out =
      cat("\n## How long layers last\n\nAt the default clocks; a layer's forward and backward "
          "count as two.\n\n",
          durations_table(answers.main));
  out +=
      "\n## Up to which delay switching pays\n\nThe delay of a change at which a strategy stops saving 0.1 % "
      "of "
      "the energy of the best single setting, or breaks the bound of 5 %. `phase` plans anew for each delay; "
      "`arithmetic-intensity` and `exhaustive` plan as if changes were free. None of them knows the limit of "
      "10 changes a second: what switching could give, not what `rubato run --plan` sends.\n\n";
  out += break_even_table(found);
  out +=
      "\n![energy saved over the best single setting against the delay of a clock change, RTX "
      "A4000](../img/layers-break-even.svg)\n\nRTX A4000. A gap: the plan breaks the bound on time, or there "
      "is none. What loses "
      "more is drawn at the lower edge.\n";
  out +=
      "\n## Every strategy, bound 5 %\n\nEnergy, time and EDP against the default, then against the best "
      "single "
      "setting.\n";
  for (const Case& one : answers.main) out += main_table(one);
  std::vector<const Case*> others;
  for (const Case& one : answers.others) others.push_back(&one);
  out += cat("\n## Other bounds and batches\n\nEnergy and time against the default.\n\n",
             summary_table(others, false));
  std::vector<const Case*> sensitive;
  for (const Case& one : answers.sensitive) sensitive.push_back(&one);
  out += cat(
      "\n## If the model's shares were others\n\nThe same question with another precision, and with less and "
      "more of the compute roof reached than the ",
      number(predict::published_reach().dense, 2), " that is published; bound 5 %.\n\n",
      summary_table(sensitive, true));
  return out;
}

}  // namespace rubato::layer_study
