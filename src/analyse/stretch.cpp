#include "analyse/stretch.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace rubato::analyse {
namespace {

// The GPUs of a job change together, but each at the end of its own write: blocks that share nine tenths are
// one.
bool belongs(const Stretch& stretch, const record::Block& block) {
  if (stretch.role != block.role) return false;
  for (const record::Block* other : stretch.blocks)
    if (other->gpu == block.gpu) return false;
  const Seconds shared = std::min(stretch.end, block.end) - std::max(stretch.begin, block.begin);
  return shared >= 0.9 * std::max(stretch.duration(), block.end - block.begin);
}

}  // namespace

std::vector<Stretch> stretches_of(const record::RunRecord& run) {
  std::vector<Stretch> stretches;
  std::set<GpuId> gpus;
  for (const record::Block& block : run.blocks) {
    gpus.insert(block.gpu);
    const auto home = std::ranges::find_if(stretches, [&](const Stretch& s) { return belongs(s, block); });
    if (home == stretches.end()) {
      stretches.push_back(
          {block.role, block.setting, block.begin, block.end, block.iterations, {&block}, {}, {}});
      continue;
    }
    home->blocks.push_back(&block);
    // A GPU the job does not use stays as found; the stretch is named after what was set on the others.
    if (home->setting.empty()) home->setting = block.setting;
    home->begin = std::min(home->begin, block.begin);
    home->end = std::max(home->end, block.end);
    home->iterations = std::max(home->iterations, block.iterations);
  }
  for (Stretch& stretch : stretches) {
    if (stretch.blocks.size() != gpus.size()) continue;
    Joules sum;
    double variance = 0.0;
    bool complete = true;
    for (const record::Block* block : stretch.blocks) {
      complete = complete && block->energy.has_value();
      if (!block->energy) continue;
      sum += block->energy->energy;
      variance += std::pow(block->energy->band_sampling.value(), 2);
    }
    if (!complete) continue;
    stretch.energy = sum;
    stretch.band_sampling = Joules(std::sqrt(variance));
  }
  std::ranges::sort(stretches, {}, &Stretch::begin);
  return stretches;
}

}  // namespace rubato::analyse
