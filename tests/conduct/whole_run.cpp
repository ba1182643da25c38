#include "conduct/whole_run.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "conduct/clock_gate.h"
#include "conduct/run_space.h"
#include "conduct/virtual_run.h"
#include "govern/registry.h"

namespace rubato::conduct {
namespace {

using Gpus = std::vector<std::unique_ptr<device::Gpu>>;

VirtualRunOptions training(const WholeRunWish& wish) {
  VirtualRunOptions options{.profiles = {wish.board}, .scenario = {}, .wanted = {}, .marks = wish.marks};
  options.train = sim_trainer::TrainOptions{.workload = wish.workload, .iterations = wish.iterations};
  return options;
}

/// As the command makes it: all knobs the board has, behind the gate that tells whether a clock was locked
/// unless the user did.
std::unique_ptr<govern::Strategy> governor(const Gpus& gpus, const WholeRunWish& wish) {
  govern::StrategyRequest request;
  request.space = run_space(gpus, {}).value().space;
  request.found_clock_stated = true;
  request.seed = wish.seed;
  request.goal.max_slowdown = wish.max_slowdown;
  if (wish.no_lock) return govern::make_strategy("rubato", request).value();
  return std::make_unique<ClockGate>(
      "rubato", [request = std::move(request)](bool clocks) -> Result<std::unique_ptr<govern::Strategy>> {
        govern::StrategyRequest told = request;
        if (!clocks) told.space = without_clocks(std::move(told.space));
        if (told.space.axes.empty()) return fail(ErrorCode::unavailable, "nothing else may be set");
        return govern::make_strategy("rubato", told);
      });
}

}  // namespace

WholeRun whole_run(const WholeRunWish& wish) {
  VirtualRun alone(training(wish));
  static_cast<void>(alone.run());
  VirtualRunOptions options = training(wish);
  options.strategy = [wish](const Gpus& gpus) { return governor(gpus, wish); };
  VirtualRun governed(std::move(options));
  const record::RunRecord run = governed.run();

  WholeRun out{.alone = alone.truth().duration,
               .saved = 1 - governed.truth().energy / alone.truth().energy,
               .slower = governed.truth().duration / alone.truth().duration - 1};
  for (const record::Decision& decision : run.decisions)
    out.clocks_off = out.clocks_off || decision.why.find("clock settings stay off") != std::string::npos;
  std::set<std::string> tried;
  for (const record::Block& block : run.blocks) {
    if (block.role == BlockRole::trial) tried.insert(describe(block.setting));
    if (block.role == BlockRole::hold && !block.setting.empty())
      out.held += (block.end - block.begin) / governed.truth().duration;
    out.searched = out.searched || !block.setting.empty();
  }
  out.tried = tried.size();
  return out;
}

}  // namespace rubato::conduct
