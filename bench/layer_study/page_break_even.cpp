#include <cmath>

#include "base/text.h"
#include "layer_study/in_parallel.h"
#include "layer_study/page.h"
#include "layer_study/plot.h"

namespace rubato::layer_study {

std::vector<Seconds> delays_looked_at() {
  std::vector<Seconds> out = {Seconds(0)};
  for (int half = -12; half <= 0; ++half) out.emplace_back(std::pow(10, half / 2.0));
  return out;
}

std::vector<CaseBreakEven> break_evens(const std::vector<Case>& cases) {
  const std::vector<Seconds> delays = delays_looked_at();
  return in_parallel(cases, [&](const Case& one) {
    const Study study{one.table,
                      [&one](Seconds delay) { return switching_at(one, delay); },
                      {.max_slowdown = one.question.bound}};
    CaseBreakEven found{&one, {}, {}};
    for (const plan::LayerStrategy& strategy : plan::layer_strategies()) {
      if (strategy.name == "single") continue;
      found.strategies.emplace_back(strategy.name);
      found.found.push_back(break_even(study, strategy, delays));
    }
    return found;
  });
}

std::string break_even_plot(const std::vector<CaseBreakEven>& found, const std::string& profile) {
  Plot plot;
  plot.x_title = "delay of a clock change";
  plot.y_title = "energy saved";
  plot.x = delays_looked_at();
  plot.x.erase(plot.x.begin());
  double most = 0.01;
  for (const CaseBreakEven& one : found) {
    if (one.of->question.profile != profile) continue;
    plot.mark = std::pair(one.of->board.clock_latency.typical, std::string("published"));
    Panel panel{words_of(one.of->question), {}};
    for (std::size_t i = 0; i < one.strategies.size(); ++i) {
      const auto& gains = one.found[i].gains;
      panel.curves.push_back({one.strategies[i], {gains.begin() + 1, gains.end()}});
      for (const auto& gain : gains) most = std::max(most, gain.value_or(0));
    }
    plot.panels.push_back(std::move(panel));
  }
  plot.step = most > 0.1 ? 0.05 : most > 0.04 ? 0.02 : 0.01;
  plot.high = std::ceil(most / plot.step) * plot.step;
  plot.low = -plot.step;
  return svg_of(plot);
}

}  // namespace rubato::layer_study
