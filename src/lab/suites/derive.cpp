#include "lab/suites/derive.h"

#include <algorithm>
#include <cmath>

#include "rubato/mark_layout.h"

namespace rubato::lab {
namespace {

using device::sim::Profile;
using device::sim::Segment;

// A V100 PCIe, which the segments' seconds are counted in (device/sim/work.h): its data sheet.
constexpr double kV100Tensor = 112e12;
constexpr double kV100Bandwidth = 900e9;

/// Of the peak that such kernels reach, and how hard they drive the pipes meanwhile.
struct ClassFigures {
  double of_tensor;
  double of_vector;
  double of_bandwidth;
  double compute_activity;
};

constexpr double kStreamed = 0.8;  // of the bandwidth, by kernels that read and write in order

ClassFigures figures_of(OperatorClass kind) {
  switch (kind) {
    case OperatorClass::convolution:
      return {0.6, 0.8, kStreamed, 0.85};
    case OperatorClass::matrix:
      return {0.6, 0.8, kStreamed, 0.9};
    case OperatorClass::grouped:
      return {0.3, 0.4, kStreamed, 0.6};
    case OperatorClass::recurrent:
      return {0.25, 0.4, kStreamed, 0.6};
    case OperatorClass::gather:
      return {0.6, 0.8, 0.4, 0.5};
  }
  return {};
}

// Passes of an activation through memory: products read one and write one; what stands between them
// (normalisation twice read and once written, activation function once each) five. Backward there are two
// products for one, and eight passes between them.
constexpr double kProductPasses = 2;
constexpr double kBetweenPassesForward = 5;
constexpr double kBetweenPassesBackward = 8;
// Instructions of such kernels take this share of the time their bytes do.
constexpr double kBetweenCompute = 0.2;
constexpr double kBetweenComputeActivity = 0.5;
constexpr double kBetweenMemoryActivity = 0.9;
constexpr double kProductMemoryActivity = 0.75;
constexpr double kOptimizerComputeActivity = 0.4;

// Kernels of an operator: itself, its normalisation, its activation function; twice that backward; one for
// the optimizer.
constexpr double kKernelsForward = 3;
constexpr double kKernelsBackward = 6;
constexpr double kKernelsOptimizer = 1;
constexpr double kGap = 1e-6;    // s between two kernels on the GPU
constexpr double kIssue = 8e-6;  // s of the host per kernel

/// Seconds on this board, in the simulated GPU's units.
Segment segment_of(const Profile& board, std::uint32_t phase, double compute, double memory, double fixed) {
  Segment out;
  out.phase = phase;
  out.compute_s = compute * board.compute_rate;
  out.memory_s = memory * board.memory_rate;
  out.fixed_s = fixed;
  return out;
}

double optimizer_bytes(const Training& training) {
  const double state = training.network->optimizer == Optimizer::adam ? 28 : 20;
  const double copy = training.precision == Precision::amp ? 6 : 0;  // weights in 16 bits made again
  return training.network->parameters * (state + copy);
}

double seconds_at_reference(const Segment& segment, const Profile& board) {
  return std::max(segment.compute_s / board.compute_rate, segment.memory_s / board.memory_rate) +
         segment.fixed_s;
}

}  // namespace

Peaks peaks_of(const Profile& board) {
  Peaks out;
  out.tensor_amp = kV100Tensor * board.compute_rate;
  out.tensor_tf32 = board.compute_major >= 8 ? out.tensor_amp / 2 : 0;
  const double lanes = board.compute_major >= 9 || (board.compute_major == 8 && board.compute_minor > 0)
                           ? 128
                           : 64;  // single precision, on an SM
  out.vector = board.sm_count.value_or(0) * lanes * 2 * board.sm_reference.value() * 1e6;
  out.bandwidth = kV100Bandwidth * board.memory_rate;
  return out;
}

Derived derive(const Training& training, const Profile& board, double loader, Pass pass) {
  const Network& net = *training.network;
  const Peaks peaks = peaks_of(board);
  const ClassFigures figures = figures_of(net.kind);
  const double batch = training.batch;
  const double width = training.precision == Precision::amp ? 2 : 4;  // bytes of an element

  Derived out;
  const double tensor = training.precision == Precision::amp    ? peaks.tensor_amp
                        : training.precision == Precision::tf32 ? peaks.tensor_tf32
                                                                : 0;
  out.on_tensor_cores = tensor > 0;
  out.peak = out.on_tensor_cores ? tensor : peaks.vector;
  const double rate = out.peak * (out.on_tensor_cores ? figures.of_tensor : figures.of_vector);
  const double bandwidth = peaks.bandwidth * figures.of_bandwidth;

  const double forward = 2 * net.multiply_adds * batch;
  const double activations = net.activations * batch * width;
  const double weights = net.parameters * width;
  // Tables are gathered from, not streamed: their rows are among the activations.
  const double streamed = net.kind == OperatorClass::gather ? 0 : weights;

  const auto product = [&](std::uint32_t phase, double times, double kernels) {
    Segment s = segment_of(board, phase, times * forward / rate,
                           times * (kProductPasses * activations + streamed) / bandwidth, kernels * kGap);
    s.compute_activity = figures.compute_activity;
    s.memory_activity = kProductMemoryActivity;
    out.segments.push_back(s);
  };
  const auto between = [&](std::uint32_t phase, double passes, double kernels) {
    const double memory = passes * activations / bandwidth;
    Segment s = segment_of(board, phase, kBetweenCompute * memory, memory, kernels * kGap);
    s.compute_activity = kBetweenComputeActivity;
    s.memory_activity = kBetweenMemoryActivity;
    out.segments.push_back(s);
  };
  product(RUBATO_PHASE_FORWARD, 1, net.operators);
  between(RUBATO_PHASE_FORWARD, kBetweenPassesForward, (kKernelsForward - 1) * net.operators);
  double kernels = kKernelsForward * net.operators;
  if (pass == Pass::training) {
    product(RUBATO_PHASE_BACKWARD, 2, 2 * net.operators);
    between(RUBATO_PHASE_BACKWARD, kBetweenPassesBackward, (kKernelsBackward - 2) * net.operators);
    const double state = optimizer_bytes(training) / (peaks.bandwidth * kStreamed);
    Segment step = segment_of(board, RUBATO_PHASE_OPTIMIZER, kBetweenCompute * state, state,
                              kKernelsOptimizer * net.operators * kGap);
    step.compute_activity = kOptimizerComputeActivity;
    step.memory_activity = kBetweenMemoryActivity;
    out.segments.push_back(step);
    kernels += (kKernelsBackward + kKernelsOptimizer) * net.operators;
  }

  for (const Segment& s : out.segments) out.busy_s += seconds_at_reference(s, board);
  // Launching and loading run beside the GPU: what is longer than its work shows. What the training itself
  // does on the host comes on top.
  const double beside = std::max(kernels * kIssue, net.load_s * batch * loader);
  const double waits = std::max(0.0, beside - out.busy_s) + net.host_s * batch;
  if (waits > 0) out.segments.insert(out.segments.begin(), segment_of(board, RUBATO_PHASE_DATA, 0, 0, waits));

  out.step_s = out.busy_s + waits;
  out.flops = (pass == Pass::training ? 3 : 1) * forward;
  // What a product wrote and its normalisation wrote is kept for the way back; weights, gradients and state.
  out.memory_bytes =
      2 * activations + net.parameters * (net.optimizer == Optimizer::adam ? 16.0 : 12.0) + weights;
  return out;
}

unsigned steps_per_iteration(const Derived& derived) {
  return static_cast<unsigned>(std::max(1.0, std::ceil(kLeastIteration / derived.step_s)));
}

}  // namespace rubato::lab
