#include <algorithm>

#include "base/text.h"
#include "layer_study/page.h"
#include "sim_facts/numbers.h"

namespace rubato::layer_study {
namespace {

const Row& row_of(const StageCase& stage, std::string_view strategy) {
  return *std::find_if(stage.outcomes.rows.begin(), stage.outcomes.rows.end(),
                       [&](const Row& row) { return row.strategy == strategy; });
}

std::string gain(const std::optional<Outcome>& outcome, const plan::SegmentCost& single) {
  if (!outcome) return "no plan";
  return change(-saved(outcome->cost.energy, single.energy));
}

std::string until(const StageCase& stage) {
  const Study study{stage.table, [&](Seconds delay) { return switching_at(stage, delay); }, {}};
  const auto found = break_even(study, **plan::find_layer_strategy("phase"), delays_looked_at());
  if (!found.ever) return "never";
  return found.delay ? duration(*found.delay) : "above 1 s";
}

std::string table_of(const Model& model) {
  std::string out =
      cat("\n### ", model.name,
          "\n\n| stage | forward | backward | single clock | its energy | its time | "
          "against single: pass, at once | delayed | phase, at once | delayed | phase pays up to |\n"
          "|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const StageCase& s : model.stages) {
    const Outcomes& o = s.outcomes;
    const Row& pass = row_of(s, "pass");
    const Row& phase = row_of(s, "phase");
    out += cat("| ", s.stage, " | ", duration(s.forward_time), " | ", duration(s.backward_time), " | ",
               s.single, " | ", change(-saved(o.single.energy, o.at_default.energy)), " | ",
               change(slower(o.single.time, o.at_default.time)), " | ");
    out += cat(gain(pass.ideal, o.single), " | ", gain(pass.delayed, o.single), " | ",
               gain(phase.ideal, o.single), " | ", gain(phase.delayed, o.single), " | ", until(s), " |\n");
  }
  return out;
}

}  // namespace

std::string stages_part(const std::vector<Model>& models) {
  std::string out = cat(
      "\n## Pipeline stages, measured\n\nA100 SXM, SM clocks of 855 to 1410 MHz, times and energies of "
      "forward and "
      "backward of eight stages (Perseus' profiles: measured once, equal stages share a measurement). Each "
      "stage "
      "by itself: ",
      kMicrobatches,
      " micro-batches in the order of 1F1B without the waiting between them, bound 5 % of that. What a whole "
      "pipeline saves by slowing stages that wait is another question: docs/pipeline.md. \"Delayed\": ",
      duration(models.front().stages.front().board.clock_latency.typical),
      ", published. Part of a gain is no more than the rest of the bound, which one clock of 15 MHz steps "
      "does not "
      "fill; below a percent it is within what one measurement tells.\n");
  for (const Model& model : models) out += table_of(model);
  return out;
}

}  // namespace rubato::layer_study
