#include "predict/layers/layer_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "predict/layers/board_power.h"

namespace rubato::predict {
namespace {

// Operations of the whole GPU in one SM clock that this kind of layer can use.
Result<double> peak_for(const LayerDemand& layer, Precision precision, const BoardFigures& board,
                        const PeakRates& rates) {
  const unsigned major = board.peaks.compute_major;
  if (precision == Precision::bf16 && major < 8)
    return fail(ErrorCode::not_supported,
                cat("bf16 on '", board.profile, "' (compute capability ", major, ".",
                    board.peaks.compute_minor, "): needs 8.0"),
                "choose --precision fp16 or fp32");
  const auto fp32 = rates.operations(Pipe::fp32);
  const auto tensor = rates.operations(Pipe::tensor);
  if (!fp32) return fail(ErrorCode::not_supported, cat("'", board.profile, "' has no fp32 pipe"));
  // Element by element the frameworks compute in single precision, whatever they store.
  if (!layer.dense || precision == Precision::fp32) return *fp32;
  // The architecture white papers (Ampere, Ada, Hopper): tf32 at half the rate of half precision.
  if (precision == Precision::tf32) return tensor && major >= 8 ? *tensor * 0.5 : *fp32;
  return tensor ? *tensor : std::max(*fp32, rates.operations(Pipe::fp16).value_or(0));
}

// In one SM clock and in one memory clock, as far as kernels reach them.
struct Roofs {
  double operations = 0;
  double bytes = 0;
};

Result<Roofs> roofs_of(const LayerDemand& layer, Precision precision, const BoardFigures& board,
                       const Reach& reach) {
  if (auto complete = check_figures(board); !complete) return fail(std::move(complete.error()));
  const PeakRates rates = *peak_rates(board.peaks);
  const auto peak = peak_for(layer, precision, board, rates);
  if (!peak) return fail(peak.error());
  return Roofs{*peak * (layer.dense ? reach.dense : reach.elementwise), rates.bytes_per_clock * reach.memory};
}

Status check_clocks(const Clocks& clocks) {
  if (clocks.sm > Megahertz(0) && clocks.memory > Megahertz(0)) return {};
  return fail(ErrorCode::invalid_argument,
              cat("clocks of ", clocks.sm, " and ", clocks.memory, " (memory): both have to be above 0"));
}

struct Work {
  double compute = 0;  // SM clocks on the pipe, at the reached share of its roof
  double memory = 0;   // memory clocks, likewise
  Seconds launches;
  double traffic = 0;  // memory clocks at the full bandwidth
};

struct Run {
  Seconds time;
  Load load;
  LayerBound bound = LayerBound::memory;
};

Run run_at(const Work& work, const Clocks& clocks) {
  const double compute = work.compute / (clocks.sm.value() * 1e6);
  const double memory = work.memory / (clocks.memory.value() * 1e6);
  const double launches = work.launches.value();
  Run run;
  run.time = Seconds(std::max({compute, memory, launches}));
  if (launches >= std::max(compute, memory))
    run.bound = LayerBound::latency;
  else if (compute > memory)
    run.bound = LayerBound::compute;
  if (run.time > Seconds(0))
    run.load = {compute / run.time.value(), work.traffic / (clocks.memory.value() * 1e6) / run.time.value()};
  return run;
}

Megahertz lowest_sm(const BoardFigures& board, Megahertz memory) {
  for (const auto& at : board.clocks)
    if (at.clock == memory && !at.sm_clocks.empty()) return at.sm_clocks.front();
  return board.clocks.front().sm_clocks.front();
}

// Above the limit the board lowers its clock until the power fits, at worst to the lowest it reaches, where
// it may stay above: a cap can be violated (docs/simulated-gpu.md).
Clocks in_force(const Work& work, const BoardFigures& board, const Clocks& asked) {
  const auto fits = [&](Megahertz sm) {
    const Clocks clocks{sm, asked.memory};
    return power_at(board, clocks, run_at(work, clocks).load) <= board.limit;
  };
  if (fits(asked.sm)) return asked;
  Megahertz low = std::min(lowest_sm(board, asked.memory), asked.sm);
  Megahertz high = asked.sm;
  for (int i = 0; i < 40; ++i) {
    const Megahertz middle = (low + high) / 2.0;
    (fits(middle) ? low : high) = middle;
  }
  return {low, asked.memory};
}

Status check_demand(const LayerDemand& layer) {
  for (const double value : {layer.operations, layer.bytes_read, layer.bytes_written})
    if (!std::isfinite(value) || value < 0)
      return fail(ErrorCode::invalid_argument, cat("layer '", layer.layer, "' asks for ", number(value),
                                                   " operations or bytes: needs a number from 0 up"));
  return {};
}

}  // namespace

std::string_view name_of(LayerBound bound) {
  switch (bound) {
    case LayerBound::compute:
      return "compute";
    case LayerBound::memory:
      return "memory";
    case LayerBound::latency:
      break;
  }
  return "latency";
}

Result<LayerCost> layer_cost(const LayerDemand& layer, Precision precision, const BoardFigures& board,
                             const Clocks& clocks, const Reach& reach) {
  if (auto sound = check_demand(layer); !sound) return fail(std::move(sound.error()));
  if (auto sound = check_clocks(clocks); !sound) return fail(std::move(sound.error()));
  const auto roofs = roofs_of(layer, precision, board, reach);
  if (!roofs) return fail(roofs.error());
  Work work;
  work.compute = layer.operations / roofs->operations;
  work.memory = layer.bytes() / roofs->bytes;
  work.traffic = work.memory * reach.memory;
  work.launches = reach.launch * static_cast<double>(layer.kernels);
  const Clocks held = in_force(work, board, clocks);
  const Run run = run_at(work, held);
  return LayerCost{run.time, power_at(board, held, run.load), run.bound};
}

Result<double> layer_ridge(const LayerDemand& layer, Precision precision, const BoardFigures& board,
                           const Clocks& clocks, const Reach& reach) {
  if (auto sound = check_clocks(clocks); !sound) return fail(std::move(sound.error()));
  const auto roofs = roofs_of(layer, precision, board, reach);
  if (!roofs) return fail(roofs.error());
  return roofs->operations * clocks.sm.value() / (roofs->bytes * clocks.memory.value());
}

}  // namespace rubato::predict
