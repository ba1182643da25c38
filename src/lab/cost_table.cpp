#include "lab/cost_table.h"

#include <algorithm>
#include <cmath>

namespace rubato::lab {
namespace {

// A board that waits for the slowest spins in a collective. Perseus (SOSP'24) counts about 83 W for a waiting
// A100 SXM, a fifth of its 400 W.
constexpr double kWaitingShare = 0.2;

/// Where a board of another efficiency stands on the grid at one setting: under the same limit it reaches
/// what an ordinary one reaches under a limit `efficiency` times as high. Clocks are clocks.
struct Stand {
  std::size_t low;
  std::size_t high;
  double share;  // of the high one
};

Stand stand_of(const plan::KnobSpace& space, std::size_t setting, double efficiency) {
  std::size_t stride = 1;
  for (std::size_t a = space.axes.size(); a-- > 0;) {
    const auto& values = space.axes[a].values;
    if (space.axes[a].knob == Knob::power_limit) {
      const std::size_t i = setting / stride % values.size();
      const double limit = std::clamp(values[i] * efficiency, values.front(), values.back());
      const auto above = std::lower_bound(values.begin(), values.end(), limit);
      const auto high = static_cast<std::size_t>(above - values.begin());
      const std::size_t low = values[high] == limit ? high : high - 1;
      const double share = low == high ? 0 : (limit - values[low]) / (values[high] - values[low]);
      return {setting - i * stride + low * stride, setting - i * stride + high * stride, share};
    }
    stride *= values.size();
  }
  return {setting, setting, 0};
}

IterationCost cost_of(const Job& job, const Truth& truth, std::size_t setting) {
  const double second = truth.iteration.value();
  const double joule = truth.power.value() * second;
  const auto blend = [](const std::vector<double>& values, const Stand& s) {
    return values[s.low] + s.share * (values[s.high] - values[s.low]);
  };
  IterationCost out;
  std::vector<IterationCost> boards;
  for (const double efficiency : job.board_efficiency) {
    const Stand s = stand_of(job.space, setting, efficiency);
    boards.push_back({second * blend(truth.time, s), joule * blend(truth.energy, s) / efficiency});
    out.time = std::max(out.time, boards.back().time);
  }
  for (const IterationCost& board : boards)
    out.energy += board.energy * (1 + kWaitingShare * (out.time - board.time) / board.time);
  return out;
}

}  // namespace

CostTable::CostTable(const Job& job) : settings_(job.grid.size()) {
  costs_.reserve(job.programs.size() * settings_);
  for (const Truth& truth : job.programs)
    for (std::size_t k = 0; k < settings_; ++k) costs_.push_back(cost_of(job, truth, k));
}

std::vector<RunCost> fixed_runs(const Job& job, const CostTable& costs, const Draw& draw,
                                std::int64_t iterations, Watts host) {
  // Factors do not depend on the setting: their sums per program are enough.
  std::vector<RunCost> factors(job.programs.size());
  PhaseCursor phase(job);
  for (std::size_t i = 0; i < static_cast<std::size_t>(iterations); ++i) {
    RunCost& sum = factors[phase.next()];
    const double time = draw.own_time.empty() ? 1.0 : draw.own_time[i];
    sum.time += time;
    sum.energy += draw.own_power.empty() ? time : time * draw.own_power[i];
  }
  std::vector<RunCost> out(costs.settings());
  for (std::size_t k = 0; k < out.size(); ++k) {
    for (std::size_t p = 0; p < factors.size(); ++p) {
      const IterationCost& one = costs.at(p, k);
      out[k].time += factors[p].time * one.time;
      out[k].energy += factors[p].energy * one.energy;
    }
    out[k].energy += host.value() * out[k].time;
  }
  return out;
}

}  // namespace rubato::lab
