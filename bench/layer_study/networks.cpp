#include "layer_study/networks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/text.h"
#include "device/registry.h"
#include "device/sim/profile.h"
#include "experiment/layers/segment_table.h"
#include "experiment/layers/switching.h"
#include "layer_study/value_or_end.h"
#include "predict/layers/demands.h"

namespace rubato::layer_study {
std::string words_of(const Question& question) {
  return cat(question.network, ", ", question.forward_only ? "forward pass" : "training", ", batch ",
             question.batch);
}

Case answer(const Question& question) {
  const auto* network = value_or_end(predict::find_network(question.network));
  auto demanded =
      value_or_end(predict::demands_of(*network, {.batch = question.batch, .precision = question.precision}));
  if (question.forward_only) demanded.demands = experiment::forward_of(demanded.demands);
  Case out;
  out.question = question;
  out.board = *device::board_figures_of(value_or_end(device::sim::find_profile(question.profile))->board);
  out.table = value_or_end(experiment::segment_table(
      demanded.demands, out.board, {.memory_clocks = true, .most_sm_clocks = question.most_sm_clocks},
      question.reach));
  out.published =
      experiment::switching_of(out.table.settings, out.board, experiment::published_switch_costs(out.board));
  out.outcomes = outcomes_of(out.table, out.published, {.max_slowdown = question.bound});
  return out;
}

plan::Switching switching_at(const Case& of, Seconds delay) {
  const auto published = experiment::published_switch_costs(of.board);
  auto out = experiment::switching_of(
      of.table.settings, of.board, experiment::SwitchCosts{delay, std::min(delay, published.memory_stall)});
  out.most_per_second = 0;  // what switching at such a delay could give, not what rubato sends today
  return out;
}

Outcome met_by(const Case& of, const Outcome& plan, Seconds delay) {
  Outcome out = plan;
  plan::Switching switching = switching_at(of, delay);
  switching.dwell = plan.dwell;
  out.cost = plan::cost_of(of.table, switching, plan.setting);
  return out;
}

Durations durations_of(const Case& of) {
  std::vector<Seconds> all;
  Durations out;
  Seconds longer;
  for (std::size_t i = 0; i < of.table.segments.size(); ++i) {
    const Seconds time = of.table.cost(i, of.table.at_default).time;
    all.push_back(time);
    out.iteration += time;
    if (time > of.board.clock_latency.typical) longer += time;
  }
  std::sort(all.begin(), all.end());
  out.layers = all.size();
  out.median = all[all.size() / 2];
  out.p90 = all[all.size() * 9 / 10];
  out.longest = all.back();
  out.longer_than_delay = longer / out.iteration;
  return out;
}

}  // namespace rubato::layer_study
