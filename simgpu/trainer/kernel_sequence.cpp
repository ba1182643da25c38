#include "simgpu/trainer/kernel_sequence.h"

#include "base/text.h"
#include "rubato/mark_layout.h"

namespace rubato::sim_trainer {
namespace {

// Long and short ones in turn, as a product and what follows it: a sequence to recognise, and few enough
// records.
constexpr std::array<double, 6> kParts{5, 1, 5, 1, 5, 1};
constexpr double kWhole = 18;

std::string_view name_of_phase(std::uint32_t phase) {
  switch (phase) {
    case RUBATO_PHASE_FORWARD:
      return "forward";
    case RUBATO_PHASE_BACKWARD:
      return "backward";
    case RUBATO_PHASE_OPTIMIZER:
      return "optimizer";
    case RUBATO_PHASE_DATA:
      return "data";
    case RUBATO_PHASE_EVALUATION:
      return "evaluation";
    case RUBATO_PHASE_CHECKPOINT:
      return "checkpoint";
    case RUBATO_PHASE_COMMUNICATION:
      return "communication";
    default:
      return "other";
  }
}

SimKernel kernel(const device::sim::Segment& segment, std::size_t place, std::size_t part) {
  const bool product = segment.compute_s >= segment.memory_s && part % 2 == 0;
  const auto blocks = static_cast<std::uint32_t>(32 * (place + 1) * (product ? 4 : 1));
  return {
      .name = cat("sim_", name_of_phase(segment.phase), "_", place, product ? "_product" : "_elementwise"),
      .phase = segment.phase,
      .grid = {blocks, static_cast<std::uint32_t>(part / 2 + 1), 1},
      .block = {256, 1, 1}};
}

}  // namespace

std::vector<SimKernel> kernels_of(const GpuIteration& iteration) {
  std::vector<SimKernel> out;
  double nominal = 0.0;
  for (const device::sim::SegmentRun& run : iteration.runs) nominal += run.seconds;
  if (!(nominal > 0.0) || iteration.runs.size() != iteration.segments.size()) return out;
  // It took as long as it took: the segments share that as they would at the present clocks.
  const double stretch = (iteration.end - iteration.begin).value() / nominal;
  TimePoint at = iteration.begin;
  for (std::size_t s = 0; s < iteration.segments.size(); ++s) {
    const device::sim::SegmentRun& run = iteration.runs[s];
    const Seconds whole{run.seconds * stretch};
    const Seconds busy = whole * run.kernel_busy;
    const Seconds gap = (whole - busy) / static_cast<double>(kParts.size());
    TimePoint next = at;
    for (std::size_t part = 0; part < kParts.size() && run.kernel_busy > 0.0; ++part) {
      SimKernel k = kernel(iteration.segments[s], s, part);
      k.begin = next;
      k.end = next + busy * (kParts[part] / kWhole);
      next = k.end + gap;
      out.push_back(std::move(k));
    }
    at = at + whole;
  }
  return out;
}

}  // namespace rubato::sim_trainer
