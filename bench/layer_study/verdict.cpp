#include <algorithm>
#include <functional>

#include "base/text.h"
#include "layer_study/page.h"
#include "sim_facts/numbers.h"

namespace rubato::layer_study {
namespace {

// What repeats of one measurement differ by; set before the study was run.
constexpr double kNoise = 0.01;
// Of the time: what is over the bound by less is not told.
constexpr double kBoundTold = 0.0005;

struct Saved {
  double mean = 0;
  double least = 0;
  double most = 0;
  std::size_t refused = 0;  // no plan, or one that breaks the bound: counted as the default
};

bool keeps_bound(const Case& one, const plan::SegmentCost& cost) {
  return slower(cost.time, one.outcomes.at_default.time) <= one.question.bound + 1e-6;
}

using Chosen = std::function<std::optional<plan::SegmentCost>(const Case&)>;

std::optional<plan::SegmentCost> single(const Case& one) {
  return one.outcomes.single;
}

Chosen strategy(std::string_view name, bool ideal) {
  return [name, ideal](const Case& one) -> std::optional<plan::SegmentCost> {
    for (const Row& row : one.outcomes.rows)
      if (row.strategy == name) {
        const auto& outcome = ideal ? row.ideal : row.delayed;
        if (outcome) return outcome->cost;
      }
    return std::nullopt;
  };
}

Saved saved_by(const std::vector<const Case*>& cases, const Chosen& chosen, bool over_single = false) {
  Saved out{0, 1, -1, 0};
  for (const Case* one : cases) {
    const auto cost = chosen(*one);
    const bool holds = cost && keeps_bound(*one, *cost);
    if (!holds) ++out.refused;
    const Joules before = over_single ? one->outcomes.single.energy : one->outcomes.at_default.energy;
    const double share = holds ? saved(cost->energy, before) : 0;
    out.mean += share / static_cast<double>(cases.size());
    out.least = std::min(out.least, share);
    out.most = std::max(out.most, share);
  }
  return out;
}

std::string words(const Saved& s) {
  std::string out =
      cat(facts::percent(s.mean), " (", facts::percent(s.least), " to ", facts::percent(s.most), ")");
  if (s.refused > 0) out += cat(", ", s.refused, " without a plan inside the bound");
  return out;
}

std::vector<const Case*> pick(const Answers& answers, bool forward, double bound) {
  std::vector<const Case*> out;
  for (const auto* list : {&answers.main, &answers.others})
    for (const Case& one : *list)
      if (one.question.forward_only == forward && one.question.bound == bound && one.question.batch == 64)
        out.push_back(&one);
  return out;
}

struct Claim {
  std::string says;
  bool forward = false;
  double bound = 0;
  bool saves = true;  // more than noise
};

std::string judge(const Answers& answers, const Claim& claim) {
  const auto cases = pick(answers, claim.forward, claim.bound);
  std::string out = cat("- \"", claim.says, "\": ", claim.forward ? "forward pass" : "training", " at ",
                        facts::percent(claim.bound, 0), " more time saves, mean of ", cases.size(), " cases");
  std::string agrees;
  for (const bool ideal : {false, true}) {
    out += ideal ? "; if clocks changed at once" : ", with published delays";
    double best = -1;
    for (const std::string_view name : {"arithmetic-intensity", "exhaustive"}) {
      const Saved s = saved_by(cases, strategy(name, ideal));
      best = std::max(best, s.mean);
      out += cat(name == "exhaustive" ? ", `" : " `", name, "` ", facts::percent(s.mean),
                 s.refused > 0 ? cat(" (", s.refused, " without a plan inside the bound)") : std::string());
    }
    agrees += cat(agrees.empty() ? " **" : ", ", (best > kNoise) == claim.saves ? "agrees" : "disagrees",
                  ideal ? " if at once**." : " with delays");
  }
  return out + cat("; one setting for all layers ", facts::percent(saved_by(cases, single).mean), ".", agrees,
                   "\n");
}

std::string gains(const Answers& answers, bool forward) {
  const auto cases = pick(answers, forward, 0.05);
  return cat("- ", forward ? "Forward pass" : "Training",
             ", 5 % more time allowed: the best single pair of clocks saves ", words(saved_by(cases, single)),
             " of the board's energy. `phase` saves another ",
             words(saved_by(cases, strategy("phase", true), true)),
             " of that setting's energy if clocks changed at once, and ",
             words(saved_by(cases, strategy("phase", false), true)), " with published delays.\n");
}

std::string lengths(const Answers& answers) {
  std::vector<double> ratios;
  std::vector<double> shares;
  for (const Case& one : answers.main) {
    const Durations d = durations_of(one);
    ratios.push_back(one.board.clock_latency.typical / d.median);
    shares.push_back(d.longer_than_delay);
  }
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  const double longer = facts::largest(shares);
  return cat("- Why: the median layer is ", number(*low, 0), " to ", number(*high, 0),
             " times shorter than a change of clocks takes, and ",
             longer > 0 ? cat("layers longer than that make up at most ", facts::percent(longer, 0),
                              " of an iteration")
                        : std::string("no layer is longer than that"),
             ": what pays with real delays is a few phases of many layers, not a clock for each.\n");
}

std::string mistimed(const Answers& answers) {
  std::size_t plans = 0;
  std::size_t broken = 0;
  double worst = 0;
  for (const Case& one : answers.main)
    for (const Row& row : one.outcomes.rows) {
      if (row.strategy != "phase" || !row.delayed || row.delayed->changes == 0) continue;
      const auto& latency = one.board.clock_latency;
      double slowest = 0;
      for (const double share : {1 - latency.spread, 1 + latency.spread}) {
        const Outcome met = met_by(one, *row.delayed, latency.typical * share);
        slowest = std::max(slowest, slower(met.cost.time, one.outcomes.at_default.time));
      }
      ++plans;
      if (slowest > one.question.bound + kBoundTold) ++broken;
      worst = std::max(worst, slowest);
    }
  return cat(
      "- Such plans hang on the delay being what they were made for: where changes take half as long or half "
      "as long again (the spread of the profiles), ",
      broken, " of ", plans, " plans of `phase` break the bound of 5 %, at worst with ",
      facts::percent(worst), " more time.\n");
}

std::string stages(const std::vector<Model>& models) {
  std::string out;
  for (const Model& model : models) {
    std::vector<double> ideal;
    std::vector<double> delayed;
    for (const StageCase& stage : model.stages)
      for (const Row& row : stage.outcomes.rows) {
        if (row.strategy != "phase") continue;
        const Joules before = stage.outcomes.single.energy;
        ideal.push_back(row.ideal ? saved(row.ideal->cost.energy, before) : 0);
        delayed.push_back(row.delayed ? saved(row.delayed->cost.energy, before) : 0);
      }
    out += cat("- Pipeline stages (measured, ", model.name, "): `phase` saves ",
               facts::percent(facts::mean(ideal)), " over one clock for forward and backward at once, ",
               facts::percent(facts::mean(delayed)), " with the published delay (mean of ", ideal.size(),
               " stages).\n");
  }
  return out;
}

}  // namespace

std::string verdict(const Answers& answers, const std::vector<Model>& models) {
  std::string out = "\n## In short\n\n";
  out += gains(answers, false) + gains(answers, true) + lengths(answers) + mistimed(answers) + stages(models);
  out +=
      cat("\nAgainst the thesis (Blade and Kontola, Chalmers 2025, by its abstract: the same networks and "
          "boards, clocks chosen by arithmetic intensity and by exhaustive search; batch, precision and "
          "delays are "
          "not in the abstract). \"Saves\" is read as more than ",
          facts::percent(kNoise, 0),
          " against the default, what repeats differ by; comparable time as 1 %, "
          "slightly longer as 5 %. Batch 64.\n\n");
  for (const Claim& claim :
       {Claim{"full training: no real saving in comparable time", false, 0.01, false},
        Claim{"full training: a moderate saving in slightly longer time", false, 0.05, true},
        Claim{"forward pass: savings in comparable time", true, 0.01, true}})
    out += judge(answers, claim);
  return out;
}

}  // namespace rubato::layer_study
